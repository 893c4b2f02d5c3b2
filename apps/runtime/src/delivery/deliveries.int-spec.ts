import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundDelivery, StartAgent } from '@berth/contracts/runtime';
import { DELIVERIES_FILE } from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { agentFolders } from '../agent/agent-folders.js';

describe('a message to an agent of a host', () => {
  let host: HostFixture;
  let agentId: string;

  beforeEach(async () => {
    host = await HostFixture.open();
    agentId = await start();
  });

  afterEach(() => host.destroy());

  const start = async (changes: Partial<StartAgent> = {}): Promise<string> => {
    const recipe = HostFixture.recipe({ templateId: 'shell', ...changes });
    await host.agents.start(recipe);
    return recipe.agentId;
  };
  const find = (deliveryId: string): Promise<FoundDelivery> => host.deliveries.find({ agentId, deliveryId });
  const rest = (epoch = 1): Promise<void> => host.agents.of(agentId).stop({ agentId, epoch });
  const journal = (): string => join(agentFolders(host.dataDir, agentId).journal, DELIVERIES_FILE);

  it('is found with its response while the agent is awake, frozen or stopped, and an unknown one is absent', async () => {
    const deliveryId = newId('dlv');
    const other = newId('dlv');
    await host.deliver(agentId, 1, 'echo "one two"', deliveryId);
    const answered = { state: 'answered', response: 'one two' };
    const steps = [
      () => Promise.resolve(),
      () => host.agents.of(agentId).freeze({ agentId, epoch: 1 }),
      () => rest(),
    ];
    for (const step of steps) {
      await step();
      expect(await find(deliveryId)).toEqual(answered);
      expect(await find(other)).toEqual({ state: 'absent' });
    }
  });

  it('is open while the program handles it, and stays open when the guest dies in the meantime', async () => {
    const deliveryId = newId('dlv');
    const lost = host.deliver(agentId, 1, 'sleep 60', deliveryId).catch(() => undefined);
    await eventually(() => expect(readFileSync(journal(), 'utf8')).toContain(deliveryId));
    expect(await find(deliveryId)).toEqual({ state: 'open' });
    const left = readFileSync(journal());
    await rest();
    await lost;
    // The state after a guest was killed rather than stopped.
    writeFileSync(journal(), left);
    expect(await find(deliveryId)).toEqual({ state: 'open' });
  });

  it('that still waits for its turn when the agent is put to sleep is certainly not handed over', async () => {
    const first = host.deliver(agentId, 1, 'until [ -e $HOME/go ]; do sleep 0.05; done; echo first');
    const deliveryId = newId('dlv');
    const second = host.deliver(agentId, 1, 'touch $HOME/second', deliveryId);
    const refused = expect(second).rejects.toMatchObject({ code: 'agent_unavailable', effect: 'none' });
    await eventually(async () => expect(await find(deliveryId)).toEqual({ state: 'open' }));
    // What a sleep does once the time for running chats is over.
    const guest = host.agents.of(agentId).awakeAt(1);
    await guest.quiesce();
    await guest.untilQuiet(0);
    await refused;
    const { volume } = agentFolders(host.dataDir, agentId);
    writeFileSync(join(volume, 'go'), '');
    expect(await first).toBe('first');
    expect(await find(deliveryId)).toEqual({ state: 'absent' });
    expect(readdirSync(volume)).toEqual(['go']);
  });

  it('that the program failed is found with its error message', async () => {
    const deliveryId = newId('dlv');
    await expect(host.deliver(agentId, 1, 'kill -9 $PPID', deliveryId)).rejects.toMatchObject({
      code: 'agent_error',
    });
    const awake = await find(deliveryId);
    expect(awake).toMatchObject({ state: 'failed', kind: 'upstream', code: 'agent_error' });
    await rest();
    expect(await find(deliveryId)).toEqual(awake);
  });

  it('is found after anything that an agent may have written to its journal', async () => {
    const deliveryId = newId('dlv');
    await host.deliver(agentId, 1, 'echo hi', deliveryId);
    await rest();
    appendFileSync(journal(), `${deliveryId}\n{"id":"${deliveryId}"}\n${'x'.repeat(20_000_000)}\n`);
    expect(await find(deliveryId)).toEqual({ state: 'answered', response: 'hi' });
    const at = Date.now();
    appendFileSync(
      journal(),
      `${JSON.stringify({ id: deliveryId, at, step: 'ended', outcome: { type: 'x' } })}\n`,
    );
    await expect(find(deliveryId)).rejects.toMatchObject({ code: 'guest_unreachable' });
    appendFileSync(journal(), `${JSON.stringify({ id: deliveryId, at, step: 'released' })}\n`);
    expect(await find(deliveryId)).toEqual({ state: 'absent' });
  });

  it('to an agent that is not on this host is rejected', async () => {
    await expect(
      host.deliveries.find({ agentId: newId('agt'), deliveryId: newId('dlv') }),
    ).rejects.toMatchObject({ code: 'agent_not_on_host' });
  });
});
