import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadLogs, StartAgent } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture, type RecipeChanges } from '../__fixtures__/host.fixture.js';
import { listPids, readProcess, readStartVariable } from '../driver/process-table.js';
import { agentFolders } from './agent-folders.js';

describe('an agent on a host', () => {
  let host: HostFixture;

  beforeEach(async () => {
    host = await HostFixture.open();
  });

  afterEach(() => host.destroy());

  const start = async (changes: RecipeChanges = {}): Promise<string> => {
    const recipe = HostFixture.recipe({ templateId: 'shell', ...changes });
    await host.agents.start(recipe);
    return recipe.agentId;
  };

  const again = (agentId: string, epoch: number, changes: RecipeChanges = {}): StartAgent =>
    HostFixture.recipe({ agentId, epoch, templateId: 'shell', ...changes });

  const guestsOf = async (agentId: string): Promise<number[]> => {
    const pids = await listPids();
    const marked = await Promise.all(
      pids.map(async (pid) => {
        const isGuest = (await readStartVariable(pid, 'BERTH_GUEST_SOCKET')) !== undefined;
        return isGuest && (await readStartVariable(pid, 'BERTH_AGENT_MARK'))?.endsWith(agentId) === true;
      }),
    );
    const living = await Promise.all(pids.filter((_, index) => marked[index]).map(readProcess));
    return living.flatMap((one) => one?.pid ?? []);
  };

  const logsOf = async (agentId: string, changes: Partial<ReadLogs> = {}): Promise<string[]> => {
    const query: ReadLogs = {
      agentId,
      limit: 100,
      level: null,
      since: null,
      source: null,
      cursor: null,
      waitMs: 0,
    };
    const { logs } = await host.logs.read({ ...query, ...changes });
    return logs.map(({ source, message }) => `${source}: ${message}`);
  };

  const holdOpen = (agentId: string, epoch: number, deliveryId: string): Promise<string> =>
    host.deliver(
      agentId,
      epoch,
      'echo in > $BERTH_VOLUME/in; until [ -e $BERTH_VOLUME/go ]; do sleep 0.02; done; echo out',
      deliveryId,
    );

  const inVolume = (agentId: string, name: string): string =>
    join(agentFolders(host.dataDir, agentId).volume, name);

  it('starts, returns the identity of its guest, and responds to a delivery', async () => {
    const recipe = HostFixture.recipe();
    expect(await host.agents.start(recipe)).toEqual({
      guest: { version: '1.1.0', capabilities: ['exec.detached', 'console'] },
    });
    expect(await host.deliver(recipe.agentId, 1, 'hello')).toBe('echo: hello');
    expect(host.agents.observed).toEqual([
      { agentId: recipe.agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 },
    ]);
  });

  it('has the old guest with the template legacy, and no chat with blank', async () => {
    const old = HostFixture.recipe({ templateId: 'legacy' });
    expect(await host.agents.start(old)).toEqual({ guest: { version: '0.9.0', capabilities: [] } });
    const blank = await start({ templateId: 'blank' });
    await expect(host.deliver(blank, 1, 'hello')).rejects.toMatchObject({
      kind: 'unsupported',
      code: 'chat_unsupported',
    });
  });

  it('is started once by a hundred starts of one epoch', async () => {
    const recipe = HostFixture.recipe();
    await Promise.all(Array.from({ length: 100 }, () => host.agents.start(recipe)));
    expect(await guestsOf(recipe.agentId)).toHaveLength(1);
  });

  it('is started again by a higher epoch and not by a lower one', async () => {
    const agentId = await start({ epoch: 5 });
    const [first] = await guestsOf(agentId);
    await expect(host.agents.start(again(agentId, 4))).rejects.toMatchObject({
      code: 'stale_epoch',
      context: { epoch: 5, state: 'awake' },
    });
    expect(await guestsOf(agentId)).toEqual([first]);
    await host.agents.start(again(agentId, 6));
    const guests = await guestsOf(agentId);
    expect(guests).toHaveLength(1);
    expect(guests).not.toContain(first);
    await expect(host.deliver(agentId, 5, 'echo hi')).rejects.toMatchObject({ code: 'stale_epoch' });
    expect(await host.deliver(agentId, 6, 'echo hi')).toBe('hi');
  });

  it('lets a newer start supersede one that is still waiting', async () => {
    const agentId = newId('agt');
    const slow = host.agents.start(again(agentId, 1, { templateId: 'mute' }));
    const refused = expect(slow).rejects.toMatchObject({ code: 'stale_epoch' });
    await host.agents.start(again(agentId, 2));
    await refused;
    expect(await guestsOf(agentId)).toHaveLength(1);
  });

  it('is not started at an epoch for which a stop was requested, even if the start arrives late', async () => {
    const agentId = newId('agt');
    const starting = host.agents.start(again(agentId, 3, { templateId: 'mute' }));
    const refused = expect(starting).rejects.toMatchObject({ kind: 'conflict', code: 'stale_epoch' });
    await eventually(async () => (await guestsOf(agentId)).length === 1);
    await host.agents.of(agentId).stop({ agentId, epoch: 3 });
    await refused;
    expect(await guestsOf(agentId)).toEqual([]);
    await expect(host.agents.start(again(agentId, 3))).rejects.toMatchObject({ code: 'stale_epoch' });
    await host.agents.of(agentId).stop({ agentId, epoch: 9 });
    await expect(host.agents.start(again(agentId, 9))).rejects.toMatchObject({ code: 'stale_epoch' });
    await host.agents.start(again(agentId, 10));
  });

  it('that does not become ready leaves no process and reports why, in the response and in the log', async () => {
    const broken = HostFixture.recipe({ templateId: 'broken' });
    await expect(host.agents.start(broken)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'agent_start_failed',
      message: expect.stringContaining('exited with code 3') as string,
    });
    expect(await guestsOf(broken.agentId)).toEqual([]);
    expect(host.agents.observed).toEqual([]);
    const log = await logsOf(broken.agentId);
    expect(log).toContain('system: Starting.');
    expect(log).toContain('agent: no use');
    expect(log.at(-1)).toMatch(/^system: .*exited with code 3/);
    const mute = HostFixture.recipe({ templateId: 'mute', deadlineMs: 2_500 });
    await expect(host.agents.start(mute)).rejects.toMatchObject({ code: 'agent_start_failed' });
    expect(await guestsOf(mute.agentId)).toEqual([]);
    await expect(host.agents.start(HostFixture.recipe({ templateId: 'nowhere' }))).rejects.toThrow(
      /no template "nowhere"/,
    );
  });

  it('was last used for a chat, a webhook or a schedule, whatever its message came from', async () => {
    const agentId = await start();
    for (const source of ['webhook', 'schedule'] as const) {
      await host.deliver(agentId, 1, 'hello', newId('dlv'), { source });
      expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: source });
    }
    await host.deliver(agentId, 1, 'hello');
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'chat' });
  });

  it('falls asleep after its idle time, but never during a chat', async () => {
    const agentId = await start({ idleTtlSeconds: 1 });
    const chat = holdOpen(agentId, 1, newId('dlv'));
    await eventually(() => existsSync(inVolume(agentId, 'in')));
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'chat', sleepAt: null });
    const busySince = performance.now();
    await eventually(() => performance.now() - busySince > 1_500);
    expect(host.agents.observed[0]?.state).toBe('running');
    writeFileSync(inVolume(agentId, 'go'), '');
    expect(await chat).toBe('out');
    const sleepAt = host.activities.get(agentId)?.sleepAt ?? 0;
    await eventually(() => host.agents.observed[0]?.state === 'frozen');
    expect(Date.now()).toBeGreaterThanOrEqual(sleepAt);
    await eventually(() => host.reports.length > 0);
    expect(host.reports).toEqual([
      { agentId, epoch: 1, observation: { type: 'asleep', depth: 'warm', reason: 'idle' } },
    ]);
    await expect(host.deliver(agentId, 1, 'echo hi')).rejects.toMatchObject({
      code: 'stale_epoch',
      context: { epoch: 1, state: 'frozen' },
    });
    await host.agents.of(agentId).thaw({ agentId, epoch: 2 });
    expect(await host.deliver(agentId, 2, 'echo hi')).toBe('hi');
  });

  it('gets another idle time at its epoch only, awake or frozen, and keeps it when its host restarts', async () => {
    const agentId = await start({ idleTtlSeconds: 0 });
    const idleTime = (): unknown => host.agents.observed[0]?.idleTtlSeconds;
    host.agents.setIdleTime({ agentId, epoch: 2, idleTtlSeconds: 500 });
    host.agents.setIdleTime({ agentId: newId('agt'), epoch: 1, idleTtlSeconds: 500 });
    host.agents.setIdleTime({ agentId, epoch: 1, idleTtlSeconds: 600 });
    await eventually(() => idleTime() === 600);
    await eventually(() => host.activities.get(agentId)?.sleepAt !== null);
    expect(host.agents.observed).toHaveLength(1);
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    host.agents.setIdleTime({ agentId, epoch: 1, idleTtlSeconds: 700 });
    await eventually(() => idleTime() === 700);
    const next = await HostFixture.open({ dataDir: host.dataDir });
    expect(next.agents.observed).toMatchObject([{ state: 'frozen', idleTtlSeconds: 700 }]);
    await next.agents.of(agentId).thaw({ agentId, epoch: 2 });
    expect(next.agents.observed).toMatchObject([{ state: 'running', idleTtlSeconds: 700 }]);
    await next.destroy();
  });

  it('falls asleep by the idle time that its thaw carries', async () => {
    const agentId = await start({ idleTtlSeconds: 0 });
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await host.agents.of(agentId).thaw({ agentId, epoch: 2, idleTtlSeconds: 1 });
    expect(host.agents.observed).toMatchObject([{ epoch: 2, state: 'running', idleTtlSeconds: 1 }]);
    await eventually(() =>
      expect(host.reports).toMatchObject([{ agentId, epoch: 2, observation: { reason: 'idle' } }]),
    );
  });

  it('is woken by a higher epoch only, once, and only when it is frozen', async () => {
    const agentId = await start();
    const agent = host.agents.of(agentId);
    await expect(agent.freeze({ agentId, epoch: 2 })).rejects.toMatchObject({ code: 'stale_epoch' });
    await expect(agent.thaw({ agentId, epoch: 1 })).rejects.toMatchObject({ code: 'agent_not_frozen' });
    await agent.freeze({ agentId, epoch: 1 });
    await agent.freeze({ agentId, epoch: 1 });
    await expect(agent.thaw({ agentId, epoch: 1 })).rejects.toMatchObject({ code: 'stale_epoch' });
    await Promise.all([agent.thaw({ agentId, epoch: 2 }), agent.thaw({ agentId, epoch: 2 })]);
    await agent.stop({ agentId, epoch: 2 });
    await expect(agent.thaw({ agentId, epoch: 3 })).rejects.toMatchObject({ code: 'agent_not_frozen' });
    await expect(agent.freeze({ agentId, epoch: 2 })).rejects.toMatchObject({ code: 'agent_not_on_host' });
  });

  it('put to sleep during a chat responds to it first', async () => {
    const agentId = await start();
    const agent = host.agents.of(agentId);
    const chat = holdOpen(agentId, 1, newId('dlv'));
    await eventually(() => existsSync(inVolume(agentId, 'in')));
    const asleep = agent.freeze({ agentId, epoch: 1 });
    writeFileSync(inVolume(agentId, 'go'), '');
    expect(await chat).toBe('out');
    await asleep;
    expect(agent.observed).toMatchObject({ state: 'frozen' });
  });

  it('stays awake when it is woken while a sleep waits for a chat', async () => {
    const agentId = await start();
    const agent = host.agents.of(agentId);
    const chat = holdOpen(agentId, 1, newId('dlv'));
    await eventually(() => existsSync(inVolume(agentId, 'in')));
    const asleep = expect(agent.freeze({ agentId, epoch: 1 })).rejects.toMatchObject({ code: 'stale_epoch' });
    await agent.thaw({ agentId, epoch: 2 });
    writeFileSync(inVolume(agentId, 'go'), '');
    expect(await chat).toBe('out');
    await asleep;
    expect(agent.observed).toMatchObject({ state: 'running', epoch: 2 });
  });

  it('whose program keeps crashing is ended and reported', async () => {
    const agentId = await start();
    await eventually(async () => {
      await host.deliver(agentId, 1, 'kill -9 $PPID').catch(() => undefined);
      return host.reports.length > 0;
    });
    expect(host.reports).toMatchObject([{ agentId, epoch: 1, observation: { type: 'crash_loop' } }]);
    expect(await guestsOf(agentId)).toEqual([]);
    expect((await logsOf(agentId)).join('\n')).toMatch(
      /system: The agent's program keeps crashing; the last time it was ended by SIGKILL/,
    );
  });

  it('whose guest dies is ended completely and reported', async () => {
    const agentId = await start();
    const [guest = 0] = await guestsOf(agentId);
    process.kill(guest, 'SIGKILL');
    await eventually(() => host.reports.length > 0);
    expect(host.reports).toMatchObject([{ agentId, epoch: 1, observation: { type: 'exited' } }]);
    expect(await host.driver.list()).toEqual([]);
    expect((await logsOf(agentId)).at(-1)).toMatch(/^system: The agent ended unexpectedly/);
  });

  it('gets a new environment by a restart of its program', async () => {
    const agentId = await start({ env: { A: 'old' } });
    await host.agents.of(agentId).replaceEnv({ agentId, epoch: 1, env: { A: 'new' }, secretKeys: [] });
    expect(await host.deliver(agentId, 1, 'echo $A')).toBe('new');
    await expect(
      host.agents.of(agentId).replaceEnv({ agentId, epoch: 2, env: {}, secretKeys: [] }),
    ).rejects.toMatchObject({ code: 'stale_epoch' });
  });

  it('that was removed is not recreated by a late start', async () => {
    const agentId = await start();
    const racing = host.agents
      .start(again(agentId, 2, { templateId: 'mute' }))
      .catch((error: unknown) => error);
    await host.agents.remove(agentId);
    expect(await racing).toMatchObject({ kind: 'conflict', code: 'stale_epoch' });
    expect(() => host.agents.start(again(agentId, 3))).toThrow(
      expect.objectContaining({ code: 'agent_not_on_host' }),
    );
    expect(existsSync(agentFolders(host.dataDir, agentId).root)).toBe(false);
    expect(await guestsOf(agentId)).toEqual([]);
  });

  it('cannot leave the host’s folders by its id', () => {
    for (const agentId of ['..', '../../etc', 'agt_x', '']) expect(() => host.agents.of(agentId)).toThrow();
  });

  it('is found again, awake or frozen, when its host restarts; unknown agents are ended', async () => {
    const [awake, frozen] = await Promise.all([start(), start()]);
    await host.agents.of(frozen).freeze({ agentId: frozen, epoch: 1 });
    const guests = await guestsOf(awake);
    const next = await HostFixture.open({ dataDir: host.dataDir });
    expect(next.agents.observed.toSorted((a, b) => (a.state < b.state ? -1 : 1))).toEqual([
      { agentId: frozen, epoch: 1, state: 'frozen', idleTtlSeconds: 0 },
      { agentId: awake, epoch: 1, state: 'running', idleTtlSeconds: 0 },
    ]);
    expect(await next.deliver(awake, 1, 'echo found')).toBe('found');
    await next.agents.of(frozen).thaw({ agentId: frozen, epoch: 2 });
    expect(await next.deliver(frozen, 2, 'echo found')).toBe('found');
    expect(await guestsOf(awake)).toEqual(guests);
    const [guest = 0] = guests;
    process.kill(guest, 'SIGKILL');
    await eventually(() => next.reports.length > 0);
    expect(next.reports).toMatchObject([{ agentId: awake, observation: { type: 'exited' } }]);
    await next.destroy();
    expect(await guestsOf(frozen)).toEqual([]);
  });

  it('is found again after wakes have raised its epoch', async () => {
    const agentId = await start();
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await host.agents.of(agentId).thaw({ agentId, epoch: 2 });
    const guests = await guestsOf(agentId);
    const next = await HostFixture.open({ dataDir: host.dataDir });
    expect(next.agents.observed).toEqual([{ agentId, epoch: 2, state: 'running', idleTtlSeconds: 0 }]);
    expect(await guestsOf(agentId)).toEqual(guests);
    await next.destroy();
  });

  it('is found again by the record that an earlier version of Berth has written', async () => {
    const agentId = await start();
    const guests = await guestsOf(agentId);
    const { state } = agentFolders(host.dataDir, agentId);
    const { boxEpoch, box, ...earlier } = JSON.parse(readFileSync(state, 'utf8')) as {
      boxEpoch: number;
      box: { command: unknown; inside: { code: string } };
    };
    expect(boxEpoch).toBe(1);
    const { command, inside, ...others } = box;
    expect(command).toEqual(['node', 'agent.mjs']);
    const { code, ...paths } = inside;
    const earlierBox = { ...others, inside: { ...paths, template: code } };
    writeFileSync(state, JSON.stringify({ ...earlier, box: earlierBox }));
    const next = await HostFixture.open({ dataDir: host.dataDir });
    expect(next.agents.observed).toEqual([{ agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 }]);
    expect(await next.deliver(agentId, 1, 'echo found')).toBe('found');
    expect(await guestsOf(agentId)).toEqual(guests);
    await next.destroy();
  });

  it('whose record was lost with the host is ended when the host restarts', async () => {
    const agentId = await start();
    rmSync(agentFolders(host.dataDir, agentId).state);
    const next = await HostFixture.open({ dataDir: host.dataDir });
    expect(await guestsOf(agentId)).toEqual([]);
    expect(next.agents.observed).toEqual([]);
    await next.destroy();
  });
});
