import type { EnsureAwake } from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentActivity } from '../agent-list/agent-activity.js';
import { EndUserUses } from '../agent-list/end-user-uses.js';
import { emptyTables, eventsOf, guest, MemoryAgents, silent } from '../fixtures/memory-agents.fixture.js';
import type { Admission } from './admission.js';
import type { AgentEvent } from './agent.js';
import { EnsureAwakeHandler } from './ensure-awake.js';

const agentId = 'agt_01';
const { created, starting, started, asleep, stopping, stopped, resized } = eventsOf(agentId);
const running = [created(), starting(1), started(1)];
let memory: MemoryAgents;

beforeEach(() => {
  memory = new MemoryAgents();
  memory.hosts.on(runtimeRequests.start, () => ({ guest }));
  memory.hosts.on(runtimeRequests.thaw, () => ({ guest }));
});

const admitting: Admission = { admit: () => Promise.resolve(null) };
const handler = (
  admission: Admission = admitting,
  { agents, lifecycle }: Pick<MemoryAgents, 'agents' | 'lifecycle'> = memory,
): EnsureAwakeHandler =>
  new EnsureAwakeHandler(
    agents,
    lifecycle,
    admission,
    new AgentActivity(emptyTables),
    new EndUserUses(memory.hosts, silent),
    silent,
  );

const request = (over: Partial<EnsureAwake> = {}): EnsureAwake => ({
  commandId: newId('cmd'),
  accountId: 'acc_1',
  actor: { kind: 'system', id: 'test' },
  agentId,
  kind: 'chat',
  refusedEpoch: null,
  ...over,
});

const given = (...events: readonly AgentEvent[]): Promise<void> => memory.given(agentId, events);

describe('ensuring that an agent is awake', () => {
  it('returns where a running agent is, and changes nothing', async () => {
    await given(...running);
    expect(await handler().handle(request())).toEqual({
      agentId,
      endUserId: null,
      host: 'hst_1',
      epoch: 1,
      guest,
    });
    expect(await memory.after(agentId, running.length)).toEqual([]);
  });

  it('wakes a sleeping agent under a new epoch', async () => {
    await given(...running, asleep(1, 'warm'));
    expect(await handler().handle(request())).toMatchObject({ epoch: 2 });
    expect(await memory.after(agentId, 4)).toEqual(['AgentStarting.v2', 'AgentStarted']);
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([{ agentId, epoch: 2, idleTtlSeconds: 900 }]);
  });

  it('has the wake in the log at a time after its admission', async () => {
    await given(...running, asleep(1, 'cold'));
    const another = memory.anotherProcess();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const admittedAt = Date.now() + 5_000;
      const slow: Admission['admit'] = async () => {
        vi.setSystemTime(admittedAt);
        return null;
      };
      // It does not know the agent yet, so it admits the wake after it has read the log.
      await handler({ admit: slow }, another).handle(request());
      const recorded = await memory.store.read(`agent-${agentId}`);
      const wake = recorded.findLast(({ type }) => type === 'AgentStarting.v2');
      expect(wake?.data).toMatchObject({ epoch: 2, at: new Date(admittedAt).toISOString() });
    } finally {
      vi.useRealTimers();
    }
  });

  it('starts it once for a hundred callers', async () => {
    await given(...running, asleep(1, 'cold'));
    const awake = handler();
    const places = await Promise.all(Array.from({ length: 100 }, () => awake.handle(request())));
    expect(new Set(places.map(({ epoch }) => epoch))).toEqual(new Set([2]));
    expect(memory.hosts.of(runtimeRequests.start)).toHaveLength(1);
    expect(await memory.after(agentId, 4)).toEqual(['AgentStarting.v2', 'AgentStarted']);
  });

  it('starts it again when its host refused the epoch a moment ago', async () => {
    await given(...running);
    expect(await handler().handle(request({ refusedEpoch: 1 }))).toMatchObject({ epoch: 2 });
  });

  it.each<[EnsureAwake['kind'], boolean]>([
    ['chat', true],
    ['webhook', true],
    ['file', true],
    ['exec', true],
    ['console', true],
    ['app', true],
    ['schedule', false],
  ])('counts a use of the kind %s as activity of its end user: %s', async (kind, counts) => {
    const endUserId = newId('eus');
    await given(created({ personal: { endUserId, sealed: 'p.sealed' } }), starting(1), started(1));
    await handler().handle(request({ kind }));
    expect(memory.hosts.of(endUsersRequests.noteActivity)).toEqual(counts ? [{ endUserId }] : []);
  });

  it('leaves it asleep on request', async () => {
    await given(...running, asleep(1, 'warm'));
    await expect(handler().handle(request({ asleep: 'refuse' }))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'agent_asleep',
    });
    expect(await memory.after(agentId, 4)).toEqual([]);
  });

  it('checks the wake that the same attempt may begin next, and counts it only then', async () => {
    await given(...running, asleep(1, 'warm'));
    const admit = vi.fn<Admission['admit']>(() => Promise.resolve(null));
    const attempt = newId('cmd');
    const refused = handler({ admit }).handle(request({ attempt, asleep: 'refuse' }));
    await expect(refused).rejects.toMatchObject({ code: 'agent_asleep' });
    await handler({ admit }).handle(request({ attempt }));
    const wake = { agentId, epoch: 2, attempt };
    const asked = admit.mock.calls.map(([act, , about]) => [act, about]);
    expect(asked.slice(0, 2)).toEqual([
      ['check', wake],
      ['wake', wake],
    ]);
  });

  it('checks the admission before a wake, and starts nothing when it is refused', async () => {
    await given(...running, asleep(1, 'warm'));
    const refusing: Admission = {
      admit: () => Promise.reject(new DomainError('forbidden', 'suspended', 'Suspended.')),
    };
    await expect(handler(refusing).handle(request())).rejects.toMatchObject({ code: 'suspended' });
    expect(memory.hosts.requests).toEqual([]);
    expect(await memory.after(agentId, 4)).toEqual([]);
  });

  it('wakes an agent that it knows to be asleep without a read of the log before', async () => {
    await given(...running, asleep(1, 'warm'));
    await memory.agents.load(agentId);
    const reads = vi.spyOn(memory.store, 'read');
    const readsAtAdmission: number[] = [];
    const admission: Admission = {
      admit: (act) => {
        if (act === 'wake') readsAtAdmission.push(reads.mock.calls.length);
        return Promise.resolve(null);
      },
    };
    expect(await handler(admission).handle(request())).toMatchObject({ epoch: 2 });
    expect(readsAtAdmission).toEqual([0]);
    expect(await memory.after(agentId, 4)).toEqual(['AgentStarting.v2', 'AgentStarted']);
  });

  it('returns an agent that another process has woken, also if the wake would have been refused', async () => {
    await given(...running, asleep(1, 'warm'));
    await memory.agents.load(agentId);
    await handler(admitting, memory.anotherProcess()).handle(request());
    const refusing: Admission = {
      admit: () => Promise.reject(new DomainError('exhausted', 'wake_limit_reached', 'Wait.')),
    };
    for (const choice of ['wake', 'refuse'] as const)
      expect(await handler(refusing).handle(request({ asleep: choice }))).toMatchObject({ epoch: 2 });
  });

  it('waits for an outage of the admission once', async () => {
    await given(...running, asleep(1, 'warm'));
    await memory.agents.load(agentId);
    const admit = vi.fn<Admission['admit']>(() =>
      Promise.reject(new DomainError('unavailable', 'service_unavailable', 'Try again shortly.')),
    );
    for (const choice of ['wake', 'refuse'] as const)
      await expect(handler({ admit }).handle(request({ asleep: choice }))).rejects.toMatchObject({
        code: 'service_unavailable',
      });
    expect(admit).toHaveBeenCalledTimes(2);
  });

  it('thaws it with the policy of its admission, which is looked up again only for another start', async () => {
    const policy = { idle_sleep_seconds: 77 };
    const with77 = (ahead: number): Admission => ({
      admit: (_, __, wake) =>
        Promise.resolve(wake === undefined ? null : { ...wake, epoch: wake.epoch + ahead, policy }),
    });
    await given(...running, asleep(1, 'warm'));
    await handler(with77(0)).handle(request());
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([{ agentId, epoch: 2, idleTtlSeconds: 77 }]);

    memory = new MemoryAgents();
    memory.hosts.on(runtimeRequests.thaw, () => ({ guest }));
    await given(...running, asleep(1, 'warm'));
    await handler(with77(1)).handle(request());
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([{ agentId, epoch: 2, idleTtlSeconds: 900 }]);
  });

  it('starts it cold if the policy of its admission gives it other sizes', async () => {
    const policy = { mem_mb: 512 };
    const sizes = { memMb: 256, vcpus: 1, diskGb: 1 };
    await given(created(), starting(1), resized(1, sizes), started(1), asleep(1, 'warm'));
    await handler({
      admit: (_, __, wake) => Promise.resolve(wake === undefined ? null : { ...wake, policy }),
    }).handle(request());
    expect(memory.hosts.of(runtimeRequests.thaw)).toEqual([]);
    expect(memory.hosts.of(runtimeRequests.start)).toMatchObject([{ epoch: 2 }]);
  });

  it('is refused before the state of the agent is, and when its wake was forbidden after it began', async () => {
    await given(...running, stopping(2), stopped(2));
    const suspended = (act: string): Promise<never> =>
      Promise.reject(new DomainError('forbidden', act, 'Suspended.'));
    await expect(handler({ admit: suspended }).handle(request())).rejects.toMatchObject({ code: 'use' });

    memory = new MemoryAgents();
    memory.hosts.on(runtimeRequests.start, () => ({ guest }));
    await given(...running, asleep(1, 'cold'));
    const late: Admission = { admit: (act) => (act === 'wake' ? Promise.resolve(null) : suspended(act)) };
    await expect(handler(late).handle(request())).rejects.toMatchObject({ code: 'use' });
  });

  it('does not check the admission of a running agent', async () => {
    await given(...running);
    const refusing: Admission = { admit: () => Promise.reject(new Error('asked')) };
    expect(await handler(refusing).handle(request())).toMatchObject({ epoch: 1 });
  });

  it('refuses a stopped agent, with either value of `asleep`', async () => {
    await given(...running, stopping(2), stopped(2));
    for (const asleepChoice of ['wake', 'refuse'] as const)
      await expect(handler().handle(request({ asleep: asleepChoice }))).rejects.toMatchObject({
        kind: 'conflict',
        code: 'agent_stopped',
      });
  });

  it.each([
    ['another account', { accountId: 'acc_2' }],
    ['no agent', { agentId: 'agt_02' }],
  ])('does not find the agent of %s', async (_, over) => {
    await given(...running);
    await expect(handler().handle(request(over))).rejects.toMatchObject({
      kind: 'not_found',
      code: 'agent_not_found',
    });
  });

  it('does not wake the agent of another account that it knows to be asleep', async () => {
    await given(...running, asleep(1, 'cold'));
    await memory.agents.load(agentId);
    await expect(handler().handle(request({ accountId: 'acc_2' }))).rejects.toMatchObject({
      kind: 'not_found',
      code: 'agent_not_found',
    });
    expect(await memory.after(agentId, 4)).toEqual([]);
  });

  it('fails with agent_unavailable while the host cannot be reached, and leaves the start in the log', async () => {
    memory = new MemoryAgents();
    await given(...running, asleep(1, 'cold'));
    const begun = Date.now();
    await expect(handler().handle(request())).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'agent_unavailable',
    });
    expect(Date.now() - begun).toBeLessThan(5_000);
    expect(await memory.after(agentId, 4)).toEqual(['AgentStarting.v2']);
  });
});
