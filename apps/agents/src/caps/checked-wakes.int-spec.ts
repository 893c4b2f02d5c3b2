import { newId } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OwnerAdmission } from '../agent/admission.js';
import {
  CappedWakes,
  checkAndAdmit,
  codeOf,
  wakeOf,
  type EndUser,
} from '../fixtures/capped-wakes.fixture.js';
import { silent } from '../fixtures/memory-agents.fixture.js';
import { OwnerSuspensionQuery } from '@berth/boxes';
import { CapRule } from './cap-rule.js';
import { WakeLedger } from './wake-ledger.js';
import { ADMIT_WAKE, COUNT_WAKE, DECIDE_START, REMOVE_OLD } from './wake-statements.js';

const caps = new CappedWakes();

beforeAll(() => caps.start());
afterAll(() => caps.stop());

/** The admission of a process whose statements go through `query`. */
const ruleWith = (query: SqlRunner['query']): OwnerAdmission =>
  new OwnerAdmission(
    new OwnerSuspensionQuery(caps.database),
    new CapRule(new WakeLedger({ query }, silent), caps.clock),
  );

const admissionsOf = async ({ endUserId }: EndUser): Promise<number> =>
  (await caps.database.query('SELECT 1 FROM wake_admissions WHERE end_user_id = $1', [endUserId])).length;

describe('wakes that their command has checked', () => {
  it('never exceed the limit in two processes', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 60 });
    const both = caps.rules();
    for (let n = 0; n < 20; n++) await checkAndAdmit(both[n < 10 ? 0 : 1], owner);
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) => checkAndAdmit(both[n % 2] as OwnerAdmission, owner)),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(40);
    expect(outcomes.filter((outcome) => outcome === 'wake_limit_reached')).toHaveLength(60);
  });

  const admittedOf = async (rule: OwnerAdmission, owner: EndUser, wakes: number): Promise<number> => {
    let admitted = 0;
    for (let n = 0; n < wakes; n++) if ((await checkAndAdmit(rule, owner)) === 'admitted') admitted += 1;
    return admitted;
  };

  it.each([
    ['alone', 0, 0, 40],
    ['after another process counted most of them', 0, 36, 3],
    ['with most of them in the log', 35, 0, 5],
  ])('stop at the limit although many fitted at first, %s', async (_, inTheLog, elsewhere, left) => {
    const owner = await caps.anEndUser({ wakes_per_hour: 40 });
    const [one, other] = caps.rules();
    if (inTheLog > 0) await caps.wakesInLog(owner.endUserId, inTheLog);
    if (elsewhere > 0) await checkAndAdmit(one, owner);
    await admittedOf(other, owner, elsewhere);
    expect(await admittedOf(one, owner, 45)).toBe(left);
  });

  it.each([
    ['', 40, 0, 36, 3],
    [' while counted ones do not', 12, 4, 5, 2],
  ])(
    'stop at the limit when wakes that began without one reach the log later%s',
    async (_, limit, elsewhere, late, left) => {
      const owner = await caps.anEndUser({ wakes_per_hour: limit });
      const [one, other] = caps.rules();
      await admittedOf(other, owner, elsewhere);
      expect(await checkAndAdmit(one, owner)).toBe('admitted');
      await caps.wakesInLog(owner.endUserId, late);
      expect(await admittedOf(one, owner, 10)).toBe(left);
    },
  );

  it('stop at the limit when the clock is set back to a time at which fewer fitted', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 40 });
    const [rule] = caps.rules();
    const before = caps.now;
    await caps.wakesInLog(owner.endUserId, 36);
    caps.now += 3_600_000;
    expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    caps.now -= 5_000;
    expect(await admittedOf(rule, owner, 10)).toBe(3);
    caps.now = before;
  });

  it('count once for all attempts that wake the same agent', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 60 });
    const [rule] = caps.rules();
    await checkAndAdmit(rule, owner);
    const wake = wakeOf(newId('agt'), 2);
    for (let n = 0; n < 10; n++) {
      const attempted = { ...wake, attempt: newId('cmd') };
      await rule.admit('check', owner, attempted);
      await rule.admit('wake', owner, attempted);
    }
    const gates = await caps.database.query('SELECT revision FROM wake_gates WHERE end_user_id = $1', [
      owner.endUserId,
    ]);
    expect(gates).toEqual([{ revision: '2' }]);
  });

  it('are admitted although those that are in the log cannot be removed', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 60 });
    const query = ((sql, params) =>
      sql === REMOVE_OLD
        ? Promise.reject(new Error('no connection'))
        : caps.database.query(sql, params)) as SqlRunner['query'];
    const rule = ruleWith(query);
    expect(await admittedOf(rule, owner, 20)).toBe(20);
  });

  it('are refused at a limit that was lowered after many more would have fitted', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 100 });
    const [rule] = caps.rules();
    for (let n = 0; n < 5; n++) expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    await caps.changePolicy(owner.endUserId, { wakes_per_hour: 5 });
    expect(await checkAndAdmit(rule, owner)).toBe('wake_limit_reached');
  });

  it.each([
    ['without a limit', {}, [DECIDE_START], [DECIDE_START]],
    ['far from it', { wakes_per_hour: 60 }, [DECIDE_START, COUNT_WAKE], [DECIDE_START, ADMIT_WAKE]],
  ])('begin without a statement of their own %s', async (_, policy, first, ninth) => {
    const owner = await caps.anEndUser(policy);
    const query = vi.fn<SqlRunner['query']>((...asked) => caps.database.query(...asked));
    const rule = ruleWith(query as SqlRunner['query']);
    await checkAndAdmit(rule, owner);
    const agentId = newId('agt');
    await caps.inLog(caps.created(agentId, owner.endUserId), caps.asleep(agentId, 1));
    for (let epoch = 2; epoch < 11; epoch++) {
      const wake = { ...wakeOf(agentId, epoch), attempt: newId('cmd') };
      query.mockClear();
      await rule.admit('check', owner, wake);
      const statements = epoch === 9 ? ninth : first;
      await vi.waitFor(() => expect(query.mock.calls.map(([sql]) => sql)).toEqual(statements));
      expect(await rule.admit('wake', owner, wake)).toMatchObject({ policy });
      expect(query.mock.calls.map(([sql]) => sql).filter((sql) => sql !== REMOVE_OLD)).toEqual(statements);
      await caps.inLog(caps.starting(agentId, epoch, 'wake'), caps.asleep(agentId, epoch));
    }
  });

  it('are not counted near the limit before they begin', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 15 });
    const [rule] = caps.rules();
    for (let n = 0; n < 10; n++)
      await rule.admit('check', owner, { ...wakeOf(newId('agt'), 2), attempt: newId('cmd') });
    expect(await admittedOf(rule, owner, 20)).toBe(15);
  });

  it('count once if they never begin and another attempt wakes the agent', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 20 });
    const [rule, other] = caps.rules();
    expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    const agentId = newId('agt');
    await rule.admit('check', owner, { ...wakeOf(agentId, 2), attempt: newId('cmd') });
    expect(await codeOf(other.admit('wake', owner, wakeOf(agentId, 2)))).toBe('admitted');
    expect(await admittedOf(other, owner, 20)).toBe(18);
  });

  it('take no place near the limit if they never begin, also after many began in this process', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 16 });
    const [rule, other] = caps.rules();
    expect(await admittedOf(rule, owner, 8)).toBe(8);
    expect(await admittedOf(other, owner, 7)).toBe(7);
    await rule.admit('check', owner, { ...wakeOf(newId('agt'), 2), attempt: newId('cmd') });
    // In the same queue, behind whatever the check has begun.
    expect(await codeOf(rule.admit('wake', owner, wakeOf(newId('agt'), 2)))).toBe('admitted');
  });

  it('are decided when they begin if they could not be counted before', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 60 });
    const failed = vi.fn(() => Promise.reject(new Error('no connection')));
    const rule = ruleWith(((sql, params) =>
      sql === COUNT_WAKE ? failed() : caps.database.query(sql, params)) as SqlRunner['query']);
    expect(await admittedOf(rule, owner, 3)).toBe(3);
    // A failure that no wake takes note of must not end the process.
    await rule.admit('check', owner, { ...wakeOf(newId('agt'), 2), attempt: newId('cmd') });
    await vi.waitFor(() => expect(failed).toHaveBeenCalledTimes(3));
    expect(await admissionsOf(owner)).toBe(3);
  });

  it('count once if they begin more than two seconds after their check', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 20 });
    const [rule] = caps.rules();
    const before = caps.now;
    expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    const wake = { ...wakeOf(newId('agt'), 2), attempt: newId('cmd') };
    await rule.admit('check', owner, wake);
    caps.now += 2_000;
    expect(await codeOf(rule.admit('wake', owner, wake))).toBe('admitted');
    expect(await admissionsOf(owner)).toBe(2);
    expect(await admittedOf(rule, owner, 20)).toBe(18);
    caps.now = before;
  });

  it('ignore the check of another attempt, and one that is two seconds old', async () => {
    const owner = await caps.anEndUser({});
    const [rule] = caps.rules();
    const before = caps.now;
    for (const [other, ms] of [
      [newId('cmd'), 0],
      [null, 2_000],
    ] as const) {
      const wake = { ...wakeOf(newId('agt'), 2), attempt: newId('cmd') };
      await rule.admit('check', owner, wake);
      caps.now += ms;
      await caps.changePolicy(owner.endUserId, { wakes_per_hour: 0 });
      const begun = other === null ? wake : { ...wake, attempt: other };
      expect(await codeOf(rule.admit('wake', owner, begun))).toBe('wake_limit_reached');
      await caps.changePolicy(owner.endUserId, {});
    }
    caps.now = before;
  });
});
