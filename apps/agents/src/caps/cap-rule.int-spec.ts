import { NatsLink, NatsNotices, type Requester } from '@berth/messaging';
import type { Policy } from '@berth/contracts/schema';
import { newId } from '@berth/kernel';
import { openDatabase, type Database, type SqlRunner } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OwnerAdmission } from '../agent/admission.js';
import type { AgentEvent, StartCause } from '../agent/agent.js';
import { eventsOf } from '../fixtures/memory-agents.fixture.js';
import { migrations } from '../migrations/migrations.js';
import { Policies } from '../policy/policies.js';
import { endUserUseProjection } from '../use/end-user-use.projection.js';
import { EndUserSuspensions } from '../suspension/end-user-suspensions.js';
import { OwnerSuspensionQuery } from '../suspension/owner-suspension.js';
import { SpendQuery } from '../use/spend.query.js';
import { CapRule } from './cap-rule.js';
import { WakeLedger } from './wake-ledger.js';

const accountId = 'acc_1';
const SUFFIX = 'v1';
const log = createLogger({ service: 'test', level: 'silent' });
let infra: TestInfra;
let link: NatsLink;
/** The database connections of two processes. */
let databases: readonly Database[] = [];
let now = Date.parse('2026-11-23T08:00:00.000Z');
const clock = { now: () => now };
let position = 0n;

const open = (): Promise<Database> =>
  openDatabase({
    url: infra.databaseUrl,
    schema: 'agents',
    migrations,
    applicationName: 'test',
    notices: NatsNotices.of(link, 'agents'),
    log,
  });
/** In place of `llm`: every end user has spent 1.5 cents. */
const spentOnModels = {
  request: () => Promise.resolve({ settled: '1500000', reserved: '0' }),
} as unknown as Pick<Requester, 'request'>;
const first = (): Database => databases[0] as Database;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'postgres'] });
  link = await NatsLink.open({ url: infra.natsUrl, name: 'agents', log });
  databases = [await open(), await open()];
  await first().transaction(async (tx) => {
    await endUserUseProjection.createTables(tx, SUFFIX);
    await endUserUseProjection.publish(tx, SUFFIX);
  });
});

afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await link.close();
  await infra.stop();
});

const anEndUser = async (policy: Policy): Promise<{ accountId: string; endUserId: string }> => {
  const endUserId = newId('eus');
  position += 1n;
  await new Policies(first()).apply({ endUserId, policy, position: position.toString() });
  return { accountId, endUserId };
};
const rules = (): readonly OwnerAdmission[] =>
  databases.map(
    (database) =>
      new OwnerAdmission(new OwnerSuspensionQuery(database), new CapRule(new WakeLedger(database), clock)),
  );
const wakeOf = (agentId: string, epoch: number) => ({ agentId, epoch });
const codeOf = async (admission: Promise<unknown>): Promise<string> =>
  admission.then(
    () => 'admitted',
    (error: { code?: string }) => error.code ?? 'unknown',
  );

/** Applies events to the projection's tables, as if they came from the log. */
const inLog = async (...events: readonly AgentEvent[]): Promise<void> => {
  await first().transaction((tx) =>
    endUserUseProjection.apply(
      tx,
      SUFFIX,
      events.map(({ type, data }) => ({
        id: crypto.randomUUID(),
        stream: `agent-${data.agentId}`,
        type,
        data: { ...data },
        revision: 0n,
        position: (position += 1n),
        createdAt: new Date(now),
        metadata: { correlationId: 'r', causationId: 'c', accountId, actor: { kind: 'system', id: 'test' } },
      })),
    ),
  );
};
const at = (ms: number): string => new Date(now + ms).toISOString();
const created = (agentId: string, endUserId: string): AgentEvent =>
  eventsOf(agentId, at(0)).created({ personal: { endUserId, sealed: 'p.x' } });
const starting = (agentId: string, epoch: number, cause: StartCause, ms = 0): AgentEvent =>
  eventsOf(agentId, at(ms)).starting(epoch, cause);
const started = (agentId: string, epoch: number, ms = 0): AgentEvent =>
  eventsOf(agentId, at(ms)).started(epoch);
const asleep = (agentId: string, epoch: number, ms = 0): AgentEvent =>
  eventsOf(agentId, at(ms)).asleep(epoch, 'warm');

/** Appends the events of a new agent of the end user that was woken `wakes` times. */
const wakesInLog = async (endUserId: string, wakes: number, ms = 0): Promise<void> => {
  const agentId = newId('agt');
  const cycle = (epoch: number) => [starting(agentId, epoch, 'wake', ms), asleep(agentId, epoch, ms)];
  await inLog(
    created(agentId, endUserId),
    starting(agentId, 1, 'deploy', ms),
    asleep(agentId, 1, ms),
    ...Array.from({ length: wakes }, (_, n) => cycle(n + 2)).flat(),
  );
};

/** Admits wakes, and applies each to the tables as if it came from the log. */
const admitAndLog = async (
  owner: { readonly accountId: string; readonly endUserId: string },
  wakes: number,
): Promise<void> => {
  const [rule] = rules() as readonly [OwnerAdmission];
  const agentId = newId('agt');
  await inLog(created(agentId, owner.endUserId), starting(agentId, 1, 'deploy'), asleep(agentId, 1));
  for (let epoch = 2; epoch < wakes + 2; epoch++) {
    await rule.admit('wake', owner, wakeOf(agentId, epoch));
    await inLog(starting(agentId, epoch, 'wake'), asleep(agentId, epoch));
  }
};

const isLockWaitedFor = async (): Promise<boolean> => {
  const waiting = await first().query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting.length > 0;
};

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/** The number of rows that all steps of a statement read, according to PostgreSQL. */
const rowsOf = ({ Plans = [], ...node }: PlanNode): number =>
  Plans.reduce((sum, plan) => sum + rowsOf(plan), node['Actual Rows'] * node['Actual Loops']);

/** The number of rows that the ledger reads and writes to admit a wake. */
const rowsTouched = async (owner: {
  readonly accountId: string;
  readonly endUserId: string;
}): Promise<number> => {
  let rows = 0;
  const explained: SqlRunner = {
    query: async <Row>(sql: string, params?: readonly unknown[]): Promise<Row[]> => {
      const plans = await first().query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        params,
      );
      for (const { 'QUERY PLAN': steps } of plans) for (const { Plan } of steps) rows += rowsOf(Plan);
      return first().query<Row>(sql, params);
    },
  };
  await new WakeLedger(explained).decide(owner, wakeOf(newId('agt'), 2), now);
  return rows;
};

describe('the wakes of an end user', () => {
  it('never exceed the limit, with 100 concurrent wakes of as many agents in two processes', async () => {
    const owner = await anEndUser({ wakes_per_hour: 7 });
    const both = rules();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        codeOf((both[n % 2] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(7);
    expect(outcomes.filter((outcome) => outcome === 'wake_limit_reached')).toHaveLength(93);
  });

  it('are decided again if another process counts a wake in the meantime', async () => {
    const owner = await anEndUser({ wakes_per_hour: 2 });
    const [rule] = rules() as readonly [OwnerAdmission];
    await rule.admit('wake', owner, wakeOf(newId('agt'), 2));
    const outcome = await first().transaction(async (other) => {
      await other.query('UPDATE wake_gates SET revision = revision + 1 WHERE end_user_id = $1', [
        owner.endUserId,
      ]);
      await other.query(
        'INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at) VALUES ($1, 2, $2, $3)',
        [newId('agt'), owner.endUserId, new Date(now).toISOString()],
      );
      const decided = { code: codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2))) };
      await vi.waitFor(async () => expect(await isLockWaitedFor()).toBe(true));
      return decided;
    });
    expect(await outcome.code).toBe('wake_limit_reached');
  });

  it('count once for 100 concurrent calls that wake the same agent', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const wake = wakeOf(newId('agt'), 2);
    const both = rules();
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => (both[n % 2] as OwnerAdmission).admit('wake', owner, wake)),
    );
    expect(await codeOf((both[0] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe(
      'wake_limit_reached',
    );
  });

  it('admit a call that joins them once they are in the log', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const agentId = newId('agt');
    await inLog(created(agentId, owner.endUserId), starting(agentId, 1, 'deploy'), asleep(agentId, 1));
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await inLog(starting(agentId, 2, 'wake'));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(agentId, 2)))).toBe('admitted');
  });

  it('count once when they are in the log too, and still count when the table of admissions is lost', async () => {
    const owner = await anEndUser({ wakes_per_hour: 2 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const agentId = newId('agt');
    await inLog(
      created(agentId, owner.endUserId),
      starting(agentId, 1, 'deploy'),
      started(agentId, 1),
      asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await inLog(starting(agentId, 2, 'wake'), started(agentId, 2), asleep(agentId, 2));
    await rule.admit('wake', owner, wakeOf(agentId, 3));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
    await inLog(starting(agentId, 3, 'wake'));
    await first().query('DELETE FROM wake_admissions WHERE end_user_id = $1', [owner.endUserId]);
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
  });

  it('do not include an admitted wake if the agent was started for another reason first', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const agentId = newId('agt');
    await inLog(
      created(agentId, owner.endUserId),
      starting(agentId, 1, 'deploy'),
      started(agentId, 1),
      asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await inLog(starting(agentId, 2, 'recover'), started(agentId, 2));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are admitted again once the earliest is an hour old, and Retry-After is the time until then', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const agentId = newId('agt');
    await inLog(
      created(agentId, owner.endUserId),
      starting(agentId, 1, 'deploy'),
      started(agentId, 1),
      asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await inLog(starting(agentId, 2, 'wake'), started(agentId, 2), asleep(agentId, 2));
    const before = now;
    now += 3_000_000;
    await expect(rule.admit('wake', owner, wakeOf(agentId, 3))).rejects.toMatchObject({
      context: { retryAfterSeconds: 600 },
    });
    now += 600_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(agentId, 3)))).toBe('admitted');
    now = before;
  });

  it('count although a wake of an earlier time follows them in the log', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    for (const ms of [0, -2_000]) await wakesInLog(owner.endUserId, 1, ms);
    const before = now;
    now += 3_599_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
    now += 1_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
    now = before;
  });

  it('never exceed a limit of thousands, and are admitted without reading the rows of earlier wakes', async () => {
    const owner = await anEndUser({ wakes_per_hour: 3_000 });
    const both = rules() as readonly [OwnerAdmission, OwnerAdmission];
    await wakesInLog(owner.endUserId, 2_900);
    await admitAndLog(owner, 50);
    await first().query(
      `INSERT INTO wake_admissions SELECT agent_id, epoch, end_user_id, at FROM end_user_wakes
       WHERE end_user_id = $1 ON CONFLICT (agent_id, epoch) DO NOTHING`,
      [owner.endUserId],
    );
    await both[0].admit('wake', owner, wakeOf(newId('agt'), 2));
    // That wake deleted the admissions that are in the log by now; VACUUM removes the dead rows, as autovacuum would.
    await first().query('VACUUM wake_admissions');
    const rows = await rowsTouched(owner);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(50);
    for (let n = 0; n < 38; n++) await both[0].admit('wake', owner, wakeOf(newId('agt'), 2));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        codeOf((both[n % 2] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(10);
  });

  it('do not include one that a suspension refuses', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const suspensions = new EndUserSuspensions(first());
    const stand = (suspended: boolean) =>
      suspensions.remember({ id: owner.endUserId, suspended, position: (position += 1n) });
    await stand(true);
    const wake = wakeOf(newId('agt'), 2);
    expect(await codeOf(rule.admit('wake', owner, wake))).toBe('end_user_suspended');
    await stand(false);
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('do not include one that the cap on compute minutes refuses', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1, compute_minutes_cap: 0 });
    const [rule] = rules() as readonly [OwnerAdmission];
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('compute_cap_reached');
    const policy = { wakes_per_hour: 1 };
    position += 1n;
    await new Policies(first()).apply({ endUserId: owner.endUserId, policy, position: position.toString() });
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are all refused by a limit of 0, which refuses no other start', async () => {
    const owner = await anEndUser({ wakes_per_hour: 0 });
    const [rule] = rules() as readonly [OwnerAdmission];
    await expect(rule.admit('wake', owner, wakeOf(newId('agt'), 2))).rejects.toMatchObject({
      code: 'wake_limit_reached',
      context: { retryAfterSeconds: 3_600 },
    });
    expect(await codeOf(rule.admit('start', owner))).toBe('admitted');
  });

  it('are refused for the compute minutes before the limit of wakes', async () => {
    const owner = await anEndUser({ wakes_per_hour: 0, compute_minutes_cap: 0 });
    const [rule] = rules() as readonly [OwnerAdmission];
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('compute_cap_reached');
  });

  it('are not counted without a limit, and admitted with the policy in force', async () => {
    const policy = { compute_minutes_cap: 1 };
    const owner = await anEndUser(policy);
    const [rule] = rules() as readonly [OwnerAdmission];
    const wake = wakeOf(newId('agt'), 2);
    expect(await rule.admit('wake', owner, wake)).toEqual({ ...wake, policy });
    const counted = await first().query('SELECT FROM wake_admissions WHERE agent_id = $1', [wake.agentId]);
    expect(counted).toEqual([]);
  });

  it('are not counted for a call that does not begin one', async () => {
    const owner = await anEndUser({ wakes_per_hour: 1 });
    const [rule] = rules() as readonly [OwnerAdmission];
    for (let n = 0; n < 2; n++) expect(await rule.admit('wake', owner)).toBeNull();
    const { endUserId } = owner;
    for (const table of ['wake_admissions', 'wake_gates'])
      expect(await first().query(`SELECT FROM ${table} WHERE end_user_id = $1`, [endUserId])).toEqual([]);
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are not limited for other end users, nor for agents without an end user', async () => {
    await anEndUser({ wakes_per_hour: 0 });
    const [rule] = rules() as readonly [OwnerAdmission];
    const none = { accountId, endUserId: null };
    expect(await codeOf(rule.admit('wake', none, wakeOf(newId('agt'), 2)))).toBe('admitted');
    const other = { accountId, endUserId: newId('eus') };
    expect(await codeOf(rule.admit('wake', other, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });
});

describe('the compute minutes of an end user', () => {
  const used = async (policy: Policy, awakeMs: number) => {
    const owner = await anEndUser(policy);
    const agentId = newId('agt');
    await inLog(
      created(agentId, owner.endUserId),
      starting(agentId, 1, 'deploy'),
      started(agentId, 1, 0),
      asleep(agentId, 1, awakeMs),
    );
    return { owner, agentId };
  };

  it('refuse every start at the cap, until a new month begins in UTC', async () => {
    const { owner } = await used({ compute_minutes_cap: 1 }, 60_000);
    const [rule] = rules() as readonly [OwnerAdmission];
    for (const act of ['wake', 'start', 'restart', 'create', 'deploy'] as const)
      expect([act, await codeOf(rule.admit(act, owner))]).toEqual([act, 'compute_cap_reached']);
    expect(await codeOf(rule.admit('use', owner))).toBe('admitted');
    const before = now;
    now = Date.parse('2026-11-30T23:59:59.999Z');
    expect(await codeOf(rule.admit('wake', owner))).toBe('compute_cap_reached');
    now = Date.parse('2026-12-01T00:00:00.000Z');
    expect(await codeOf(rule.admit('wake', owner))).toBe('admitted');
    now = before;
  });

  it('include the time of an agent that is still awake', async () => {
    const { owner, agentId } = await used({ compute_minutes_cap: 2 }, 60_000);
    const [rule] = rules() as readonly [OwnerAdmission];
    await inLog(starting(agentId, 2, 'wake', 100_000), started(agentId, 2, 100_000));
    const before = now;
    now += 159_999;
    expect(await codeOf(rule.admit('wake', owner))).toBe('admitted');
    now += 1;
    expect(await codeOf(rule.admit('wake', owner))).toBe('compute_cap_reached');
    const spend = await new SpendQuery(first(), clock, spentOnModels).of(owner);
    expect(spend).toMatchObject({
      computeMinutes: 2,
      computeCapMinutes: 2,
      aiCents: 1.5,
      periodStart: '2026-11-01T00:00:00.000Z',
    });
    now = before;
  });
});

it('the tables of use have the same rows whether events arrive one by one or together', async () => {
  const endUserId = newId('eus');
  const agentId = newId('agt');
  const events = [
    created(agentId, endUserId),
    starting(agentId, 1, 'deploy'),
    started(agentId, 1),
    asleep(agentId, 1, 1_000),
    starting(agentId, 2, 'wake', 2_000),
    started(agentId, 2, 3_000),
    asleep(agentId, 2, 4_000),
    starting(agentId, 3, 'wake', 3_700_000),
  ];
  const rows = async () => [
    await first().query(
      'SELECT epoch, at, ordinal FROM end_user_wakes WHERE end_user_id = $1 ORDER BY epoch',
      [endUserId],
    ),
    await first().query('SELECT awake_ms FROM end_user_months WHERE end_user_id = $1', [endUserId]),
    await first().query('SELECT state, epoch, running_since FROM end_user_agents WHERE end_user_id = $1', [
      endUserId,
    ]),
  ];
  for (const event of events) await inLog(event);
  const oneByOne = await rows();
  for (const table of ['end_user_wakes', 'end_user_months', 'end_user_agents'])
    await first().query(`DELETE FROM ${table}_${SUFFIX} WHERE end_user_id = $1`, [endUserId]);
  await inLog(...events);
  expect(await rows()).toEqual(oneByOne);
  expect(oneByOne[0]).toMatchObject([{ epoch: 3 }]);
  expect(oneByOne[1]).toEqual([{ awake_ms: '2000' }]);
});
