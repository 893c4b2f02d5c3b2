import type { Requester } from '@berth/messaging';
import type { Policy } from '@berth/contracts/schema';
import { newId } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OwnerAdmission } from '../agent/admission.js';
import { silent } from '../fixtures/memory-agents.fixture.js';
import { CappedWakes, codeOf, wakeOf, type EndUser } from '../fixtures/capped-wakes.fixture.js';
import { EndUserSuspensions } from '@berth/boxes';
import { SpendQuery } from '../use/spend.query.js';
import { WakeLedger } from './wake-ledger.js';

const accountId = 'acc_1';
/** In place of `llm`: every end user has spent 1.5 cents. */
const spentOnModels = {
  request: () => Promise.resolve({ settled: '1500000', reserved: '0' }),
} as unknown as Pick<Requester, 'request'>;
const caps = new CappedWakes();

beforeAll(() => caps.start());
afterAll(() => caps.stop());

/** Admits wakes, and applies each to the tables as if it came from the log. */
const admitAndLog = async (owner: EndUser, wakes: number): Promise<void> => {
  const [rule] = caps.rules();
  const agentId = newId('agt');
  await caps.inLog(
    caps.created(agentId, owner.endUserId),
    caps.starting(agentId, 1, 'deploy'),
    caps.asleep(agentId, 1),
  );
  for (let epoch = 2; epoch < wakes + 2; epoch++) {
    await rule.admit('wake', owner, wakeOf(agentId, epoch));
    await caps.inLog(caps.starting(agentId, epoch, 'wake'), caps.asleep(agentId, epoch));
  }
};

const isLockWaitedFor = async (): Promise<boolean> => {
  const waiting = await caps.database.query(
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
const rowsTouched = async (owner: EndUser): Promise<number> => {
  let rows = 0;
  const explained: SqlRunner = {
    query: async <Row>(sql: string, params?: readonly unknown[]): Promise<Row[]> => {
      const plans = await caps.database.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        params,
      );
      for (const { 'QUERY PLAN': steps } of plans) for (const { Plan } of steps) rows += rowsOf(Plan);
      return caps.database.query<Row>(sql, params);
    },
  };
  await new WakeLedger(explained, silent).decide(owner, wakeOf(newId('agt'), 2), caps.now);
  return rows;
};

describe('the wakes of an end user', () => {
  it('never exceed the limit, with 100 concurrent wakes of as many agents in two processes', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 7 });
    const both = caps.rules();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        codeOf((both[n % 2] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(7);
    expect(outcomes.filter((outcome) => outcome === 'wake_limit_reached')).toHaveLength(93);
  });

  it('are decided again if another process counts a wake in the meantime', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 2 });
    const [rule] = caps.rules();
    await rule.admit('wake', owner, wakeOf(newId('agt'), 2));
    const outcome = await caps.database.transaction(async (other) => {
      await other.query('UPDATE wake_gates SET revision = revision + 1 WHERE end_user_id = $1', [
        owner.endUserId,
      ]);
      await other.query(
        'INSERT INTO wake_admissions (agent_id, epoch, end_user_id, at) VALUES ($1, 2, $2, $3)',
        [newId('agt'), owner.endUserId, new Date(caps.now).toISOString()],
      );
      const decided = { code: codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2))) };
      await vi.waitFor(async () => expect(await isLockWaitedFor()).toBe(true));
      return decided;
    });
    expect(await outcome.code).toBe('wake_limit_reached');
  });

  it('count once for 100 concurrent calls that wake the same agent', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const wake = wakeOf(newId('agt'), 2);
    const both = caps.rules();
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => (both[n % 2] as OwnerAdmission).admit('wake', owner, wake)),
    );
    expect(await codeOf((both[0] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe(
      'wake_limit_reached',
    );
  });

  it('admit a call that joins them once they are in the log', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    const agentId = newId('agt');
    await caps.inLog(
      caps.created(agentId, owner.endUserId),
      caps.starting(agentId, 1, 'deploy'),
      caps.asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await caps.inLog(caps.starting(agentId, 2, 'wake'));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(agentId, 2)))).toBe('admitted');
  });

  it('count once when they are in the log too, and still count when the table of admissions is lost', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 2 });
    const [rule] = caps.rules();
    const agentId = newId('agt');
    await caps.inLog(
      caps.created(agentId, owner.endUserId),
      caps.starting(agentId, 1, 'deploy'),
      caps.started(agentId, 1),
      caps.asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await caps.inLog(caps.starting(agentId, 2, 'wake'), caps.started(agentId, 2), caps.asleep(agentId, 2));
    await rule.admit('wake', owner, wakeOf(agentId, 3));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
    await caps.inLog(caps.starting(agentId, 3, 'wake'));
    await caps.database.query('DELETE FROM wake_admissions WHERE end_user_id = $1', [owner.endUserId]);
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
  });

  it('do not include an admitted wake if the agent was started for another reason first', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    const agentId = newId('agt');
    await caps.inLog(
      caps.created(agentId, owner.endUserId),
      caps.starting(agentId, 1, 'deploy'),
      caps.started(agentId, 1),
      caps.asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await caps.inLog(caps.starting(agentId, 2, 'recover'), caps.started(agentId, 2));
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are admitted again once the earliest is an hour old, and Retry-After is the time until then', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    const agentId = newId('agt');
    await caps.inLog(
      caps.created(agentId, owner.endUserId),
      caps.starting(agentId, 1, 'deploy'),
      caps.started(agentId, 1),
      caps.asleep(agentId, 1),
    );
    await rule.admit('wake', owner, wakeOf(agentId, 2));
    await caps.inLog(caps.starting(agentId, 2, 'wake'), caps.started(agentId, 2), caps.asleep(agentId, 2));
    const before = caps.now;
    caps.now += 3_000_000;
    await expect(rule.admit('wake', owner, wakeOf(agentId, 3))).rejects.toMatchObject({
      context: { retryAfterSeconds: 600 },
    });
    caps.now += 600_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(agentId, 3)))).toBe('admitted');
    caps.now = before;
  });

  it('count although a wake of an earlier time follows them in the log', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    for (const ms of [0, -2_000]) await caps.wakesInLog(owner.endUserId, 1, ms);
    const before = caps.now;
    caps.now += 3_599_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('wake_limit_reached');
    caps.now += 1_000;
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
    caps.now = before;
  });

  it('never exceed a limit of thousands, and are admitted without reading the rows of earlier wakes', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 3_000 });
    const both = caps.rules();
    await caps.wakesInLog(owner.endUserId, 2_900);
    await admitAndLog(owner, 50);
    await caps.database.query(
      `INSERT INTO wake_admissions SELECT agent_id, epoch, end_user_id, at FROM end_user_wakes
       WHERE end_user_id = $1 ON CONFLICT (agent_id, epoch) DO NOTHING`,
      [owner.endUserId],
    );
    for (let n = 0; n < 8; n++) await both[0].admit('wake', owner, wakeOf(newId('agt'), 2));
    const left = () =>
      caps.database.query('SELECT FROM wake_admissions WHERE end_user_id = $1', [owner.endUserId]);
    await vi.waitFor(async () => expect((await left()).length).toBeLessThan(10));
    // One of them deleted the admissions that are in the log by now; VACUUM removes the dead rows, as autovacuum would.
    await caps.database.query('VACUUM wake_admissions');
    const rows = await rowsTouched(owner);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(50);
    for (let n = 0; n < 31; n++) await both[0].admit('wake', owner, wakeOf(newId('agt'), 2));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        codeOf((both[n % 2] as OwnerAdmission).admit('wake', owner, wakeOf(newId('agt'), 2))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(10);
  });

  it('do not include one that a suspension refuses', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    const suspensions = new EndUserSuspensions(caps.database);
    const stand = (suspended: boolean) =>
      suspensions.remember({ id: owner.endUserId, suspended, position: caps.nextPosition() });
    await stand(true);
    const wake = wakeOf(newId('agt'), 2);
    for (const act of ['check', 'wake'] as const)
      expect(await codeOf(rule.admit(act, owner, wake))).toBe('end_user_suspended');
    await stand(false);
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('do not include one that the cap on compute minutes refuses', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1, compute_minutes_cap: 0 });
    const [rule] = caps.rules();
    for (const act of ['check', 'wake'] as const)
      expect(await codeOf(rule.admit(act, owner, wakeOf(newId('agt'), 2)))).toBe('compute_cap_reached');
    await caps.changePolicy(owner.endUserId, { wakes_per_hour: 1 });
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are all refused by a limit of 0, which refuses no other start', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 0 });
    const [rule] = caps.rules();
    await expect(rule.admit('wake', owner, wakeOf(newId('agt'), 2))).rejects.toMatchObject({
      code: 'wake_limit_reached',
      context: { retryAfterSeconds: 3_600 },
    });
    expect(await codeOf(rule.admit('start', owner))).toBe('admitted');
  });

  it('are refused for the compute minutes before the limit of wakes', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 0, compute_minutes_cap: 0 });
    const [rule] = caps.rules();
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('compute_cap_reached');
  });

  it('are not counted without a limit, and admitted with the policy in force', async () => {
    const policy = { compute_minutes_cap: 1 };
    const owner = await caps.anEndUser(policy);
    const [rule] = caps.rules();
    const wake = wakeOf(newId('agt'), 2);
    expect(await rule.admit('wake', owner, wake)).toEqual({ ...wake, policy });
    const counted = await caps.database.query('SELECT FROM wake_admissions WHERE agent_id = $1', [
      wake.agentId,
    ]);
    expect(counted).toEqual([]);
  });

  it('are not counted for a call that does not begin one', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 1 });
    const [rule] = caps.rules();
    for (let n = 0; n < 2; n++) expect(await rule.admit('wake', owner)).toBeNull();
    for (let n = 0; n < 2; n++) expect(await rule.admit('check', owner, wakeOf(newId('agt'), 2))).toBeNull();
    const { endUserId } = owner;
    for (const table of ['wake_admissions', 'wake_gates'])
      expect(await caps.database.query(`SELECT FROM ${table} WHERE end_user_id = $1`, [endUserId])).toEqual(
        [],
      );
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are not limited for other end users, nor for agents without an end user', async () => {
    await caps.anEndUser({ wakes_per_hour: 0 });
    const [rule] = caps.rules();
    const none = { accountId, endUserId: null };
    expect(await codeOf(rule.admit('wake', none, wakeOf(newId('agt'), 2)))).toBe('admitted');
    const other = { accountId, endUserId: newId('eus') };
    expect(await codeOf(rule.admit('wake', other, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });
});

describe('the compute minutes of an end user', () => {
  const used = async (policy: Policy, awakeMs: number) => {
    const owner = await caps.anEndUser(policy);
    const agentId = newId('agt');
    await caps.inLog(
      caps.created(agentId, owner.endUserId),
      caps.starting(agentId, 1, 'deploy'),
      caps.started(agentId, 1, 0),
      caps.asleep(agentId, 1, awakeMs),
    );
    return { owner, agentId };
  };

  it('refuse every start at the cap, until a new month begins in UTC', async () => {
    const { owner } = await used({ compute_minutes_cap: 1 }, 60_000);
    const [rule] = caps.rules();
    for (const act of ['wake', 'start', 'restart', 'create', 'deploy'] as const)
      expect([act, await codeOf(rule.admit(act, owner))]).toEqual([act, 'compute_cap_reached']);
    expect(await codeOf(rule.admit('use', owner))).toBe('admitted');
    const before = caps.now;
    caps.now = Date.parse('2026-11-30T23:59:59.999Z');
    expect(await codeOf(rule.admit('wake', owner))).toBe('compute_cap_reached');
    caps.now = Date.parse('2026-12-01T00:00:00.000Z');
    expect(await codeOf(rule.admit('wake', owner))).toBe('admitted');
    caps.now = before;
  });

  it('include the time of an agent that is still awake', async () => {
    const { owner, agentId } = await used({ compute_minutes_cap: 2 }, 60_000);
    const [rule] = caps.rules();
    await caps.inLog(caps.starting(agentId, 2, 'wake', 100_000), caps.started(agentId, 2, 100_000));
    const before = caps.now;
    caps.now += 159_999;
    expect(await codeOf(rule.admit('wake', owner))).toBe('admitted');
    caps.now += 1;
    expect(await codeOf(rule.admit('wake', owner))).toBe('compute_cap_reached');
    const spend = await new SpendQuery(caps.database, caps.clock, spentOnModels).of(owner);
    expect(spend).toMatchObject({
      computeMinutes: 2,
      computeCapMinutes: 2,
      aiCents: 1.5,
      periodStart: '2026-11-01T00:00:00.000Z',
    });
    caps.now = before;
  });
});

it('the tables of use have the same rows whether events arrive one by one or together', async () => {
  const endUserId = newId('eus');
  const agentId = newId('agt');
  const events = [
    caps.created(agentId, endUserId),
    caps.starting(agentId, 1, 'deploy'),
    caps.started(agentId, 1),
    caps.asleep(agentId, 1, 1_000),
    caps.starting(agentId, 2, 'wake', 2_000),
    caps.started(agentId, 2, 3_000),
    caps.asleep(agentId, 2, 4_000),
    caps.starting(agentId, 3, 'wake', 3_700_000),
  ];
  const rows = async () => [
    await caps.database.query(
      'SELECT epoch, at, ordinal FROM end_user_wakes WHERE end_user_id = $1 ORDER BY epoch',
      [endUserId],
    ),
    await caps.database.query('SELECT awake_ms FROM end_user_months WHERE end_user_id = $1', [endUserId]),
    await caps.database.query(
      'SELECT state, epoch, running_since FROM end_user_agents WHERE end_user_id = $1',
      [endUserId],
    ),
  ];
  for (const event of events) await caps.inLog(event);
  const oneByOne = await rows();
  for (const table of ['end_user_wakes', 'end_user_months', 'end_user_agents'])
    await caps.database.query(`DELETE FROM ${table}_${caps.suffix} WHERE end_user_id = $1`, [endUserId]);
  await caps.inLog(...events);
  expect(await rows()).toEqual(oneByOne);
  expect(oneByOne[0]).toMatchObject([{ epoch: 3 }]);
  expect(oneByOne[1]).toEqual([{ awake_ms: '2000' }]);
});
