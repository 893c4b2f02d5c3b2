import { agentsRequests, type EnsureAwake } from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

let served: ServedAgents;
let agentId: string;

beforeAll(async () => {
  served = await ServedAgents.start();
  await served.hosts.add('hst-one');
});
afterAll(() => served.stop());
beforeEach(async () => {
  served.hosts.reset();
  agentId = (await served.create(aCreation())).id;
  await eventually(async () => (await served.get(agentId)).state === 'running', { timeoutMs: 20_000 });
});

const actor = { kind: 'system', id: 'test' } as const;
const ensureAwake = (asleep: EnsureAwake['asleep']): Promise<AwakeAgent> =>
  served.requester.request(agentsRequests.ensureAwake, {
    commandId: newId('cmd'),
    accountId: ACCOUNT,
    actor,
    agentId,
    kind: 'chat',
    refusedEpoch: null,
    ...(asleep === undefined ? {} : { asleep }),
  });
const command = (definition: typeof agentsRequests.sleep) =>
  served.requester.request(definition, { commandId: newId('cmd'), accountId: ACCOUNT, actor, agentId });

describe('ensureAwake', () => {
  it('returns a running agent without a wake', async () => {
    expect(await ensureAwake('refuse')).toMatchObject({ agentId, epoch: 1 });
  });

  it('finds an agent that its host started with the source that its log records', () => {
    const starts = served.hosts
      .requestsOf(runtimeRequests.start)
      .filter(({ payload }) => payload.agentId === agentId);
    expect(starts.map(({ payload }) => payload.source)).toEqual([
      { kind: 'template', version: 1, name: 'blank' },
    ]);
  });

  it('wakes a sleeping agent, unless the caller refuses to wake it', async () => {
    await command(agentsRequests.sleep);
    const before = await served.history(agentId);
    await expect(ensureAwake('refuse')).rejects.toMatchObject({ kind: 'conflict', code: 'agent_asleep' });
    expect(await served.history(agentId)).toEqual(before);
    expect(served.hosts.requestsOf(runtimeRequests.thaw)).toEqual([]);
    expect(await ensureAwake(undefined)).toMatchObject({ agentId, epoch: 2 });
  });

  it('fails for a stopped agent with the same error whether it may wake it or not', async () => {
    await command(agentsRequests.stop);
    for (const asleep of ['refuse', 'wake'] as const)
      await expect(ensureAwake(asleep)).rejects.toMatchObject({ kind: 'conflict', code: 'agent_stopped' });
  });
});
