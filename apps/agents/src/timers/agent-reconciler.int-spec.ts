import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../agent/agent.js';
import { ACCOUNT, ServedAgents } from '../fixtures/served-agents.fixture.js';
import { Policies } from '../policy/policies.js';
import { AccountSuspensions } from '@berth/boxes';
import { CapThresholdsStreams } from '../thresholds/cap-thresholds.streams.js';
import { CapUseQuery } from '../thresholds/cap-use.query.js';
import { CapThresholdTimer } from './cap-threshold-timer.js';

let test: ServedAgents;
let hanging = Promise.withResolvers<never>();

beforeAll(async () => {
  test = await ServedAgents.start();
  await test.hosts.add('host1');
  await test.hosts.add('host2');
  await test.hosts.add('host3');
});
afterEach(() => {
  hanging.reject(new Error('The test is over.'));
  hanging = Promise.withResolvers<never>();
  hanging.promise.catch(() => undefined);
  test.hosts.reset();
});
afterAll(() => test.stop());
hanging.promise.catch(() => undefined);

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** Appends the events of a process that died right after its decision. */
const leave = async (agentId: string, host: string, ...more: readonly AgentEvent[]): Promise<string> => {
  await append(agentId, 'no_stream', created(agentId), starting(agentId, host, 900), ...more);
  return agentId;
};

const created = (
  agentId: string,
  endUserId: string | null = null,
): Extract<AgentEvent, { type: 'AgentCreated.v3' }> => ({
  type: 'AgentCreated.v3',
  data: {
    agentId,
    accountId: ACCOUNT,
    templateId: 'blank',
    idleTtlSeconds: 900,
    resources: { memMb: 256, vcpus: 1, diskGb: 1 },
    personal: endUserId === null ? { endUserId, data: named(agentId) } : { endUserId, sealed: 'p.x' },
    source: { kind: 'template', version: 1, name: 'blank' },
    at: ago(20),
  },
});

const named = (name: string) => ({
  name,
  externalId: null,
  externalUserId: null,
  instructions: null,
  labels: {},
});

const append = (...[agentId, expected, ...events]: Parameters<ServedAgents['append']>): Promise<void> =>
  test.append(agentId, expected, ...events);

const starting = (agentId: string, host: string, deadlineInSeconds: number): AgentEvent => ({
  type: 'AgentStarting.v2',
  data: {
    agentId,
    epoch: 1,
    host,
    cause: 'deploy',
    thaw: false,
    version: 1,
    deadline: ago(-deadlineInSeconds),
    at: ago(20),
  },
});

const startsOf = (host: string): readonly string[] =>
  test.hosts
    .requestsOf(runtimeRequests.start)
    .filter((request) => request.host === host)
    .map(({ payload }) => payload.agentId);

/** Starts hang at every host except `host2`. */
const hangStarts = (): void => {
  const guest = { version: '1', capabilities: [] };
  test.hosts.on(runtimeRequests.start, (_, host) => (host === 'host2' ? { guest } : hanging.promise));
};

describe('while the start of one agent hangs', () => {
  it('an overdue agent fails, a warm agent goes cold, and another agent starts', async () => {
    hangStarts();
    const slow = await leave(newId('agt'), 'host1');
    await eventually(() => expect(startsOf('host1')).toEqual([slow]), { timeoutMs: 10_000 });
    const late = newId('agt');
    await leave(late, 'host1', starting(late, 'host1', -1));
    const warm = newId('agt');
    const guest = { version: '1', capabilities: [] };
    await leave(
      warm,
      'host2',
      { type: 'AgentStarted', data: { agentId: warm, epoch: 1, guest, at: ago(700) } },
      {
        type: 'AgentFellAsleep',
        data: { agentId: warm, epoch: 1, depth: 'warm', reason: 'idle', at: ago(600) },
      },
    );
    const other = await leave(newId('agt'), 'host2');
    await eventually(
      async () => {
        expect(await test.history(late)).toContain('AgentFailed');
        expect((await test.get(warm)).sleepDepth).toBe('cold');
        expect((await test.get(other)).state).toBe('running');
      },
      { timeoutMs: 10_000 },
    );
    expect((await test.get(slow)).state).toBe('deploying');
  });

  it('the suspension of its account ends it', async () => {
    hangStarts();
    const accountId = newId('acc');
    const agentId = newId('agt');
    const { type, data } = created(agentId);
    await append(
      agentId,
      'no_stream',
      { type, data: { ...data, accountId } },
      starting(agentId, 'host1', 900),
    );
    await eventually(() => expect(startsOf('host1')).toContain(agentId), { timeoutMs: 10_000 });
    await new AccountSuspensions(test.database).remember({ id: accountId, suspended: true, position: 1n });
    await eventually(async () => expect(await test.history(agentId)).toContain('AgentFellAsleep'), {
      timeoutMs: 10_000,
    });
    const stops = test.hosts.requestsOf(runtimeRequests.stop).map(({ payload }) => payload);
    expect(stops).toContainEqual({ agentId, epoch: 2 });
  });

  it('the start is not sent again, and the number of concurrent starts on one host is limited', async () => {
    hangStarts();
    const left = await Promise.all(Array.from({ length: 30 }, () => leave(newId('agt'), 'host3')));
    await eventually(() => expect(startsOf('host3').length).toBeGreaterThanOrEqual(20), {
      timeoutMs: 10_000,
    });
    // Each of these takes at least one more tick.
    const other = await leave(newId('agt'), 'host2');
    await eventually(async () => expect((await test.get(other)).state).toBe('running'), {
      timeoutMs: 10_000,
    });
    const next = await leave(newId('agt'), 'host2');
    await eventually(async () => expect((await test.get(next)).state).toBe('running'), {
      timeoutMs: 10_000,
    });
    const begun = startsOf('host3');
    expect(begun).toHaveLength(20);
    expect(new Set(begun).size).toBe(20);
    expect(left).toEqual(expect.arrayContaining([...begun]));
  });
});

describe('the thresholds of a compute cap', () => {
  it('are in the log once in a month, in which two instances watch and the cap changes', async () => {
    const owner = newId('eus');
    const agentId = newId('agt');
    const policies = new Policies(test.database);
    await policies.apply({ endUserId: owner, policy: { compute_minutes_cap: 1 }, position: '1' });
    const begin = Date.parse('2031-05-10T08:00:00.000Z');
    let now = begin;
    const at = (seconds: number): string => new Date(begin + seconds * 1_000).toISOString();
    const started = (seconds: number): AgentEvent => ({
      type: 'AgentStarted',
      data: { agentId, epoch: 1, guest: { version: '1', capabilities: [] }, at: at(seconds) },
    });
    const asleep: AgentEvent = {
      type: 'AgentFellAsleep',
      data: { agentId, epoch: 1, depth: 'cold', reason: 'idle', at: at(30) },
    };
    const deploying = starting(agentId, 'host1', 900);
    await append(agentId, 'no_stream', created(agentId, owner), deploying, started(0), asleep);
    await eventually(async () => {
      const awake = 'SELECT FROM end_user_months JOIN agent_list USING (end_user_id) WHERE end_user_id = $1';
      expect(await test.database.query(awake, [owner])).toHaveLength(1);
    });
    const ending = new AbortController();
    const timers = [1, 2].map(() =>
      new CapThresholdTimer(new CapUseQuery(test.database), new CapThresholdsStreams(test.store), {
        now: () => now,
      }).run(ending.signal),
    );
    const recorded = (month: string, percents: readonly number[]) =>
      eventually(
        async () =>
          expect(
            (await test.store.read(`computeCap-${owner}-${month}`)).map(({ data }) => data['percent']),
          ).toEqual(percents),
        { timeoutMs: 30_000 },
      );
    await recorded('2031-05-01', [50]);
    await append(agentId, 3n, started(100));
    now = begin + 118_000;
    await recorded('2031-05-01', [50, 80]);
    await policies.apply({ endUserId: owner, policy: { compute_minutes_cap: 2 }, position: '2' });
    now = begin + 190_000;
    await recorded('2031-05-01', [50, 80, 100]);
    now = Date.parse('2031-06-01T00:01:00.000Z');
    await recorded('2031-06-01', [50]);
    await recorded('2031-05-01', [50, 80, 100]);
    ending.abort();
    await Promise.all(timers);
  });
});
