import { newId } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OwnerAdmission } from '../agent/admission.js';
import { CappedWakes, checkAndAdmit, codeOf, wakeOf } from '../fixtures/capped-wakes.fixture.js';
import { OwnerSuspensionQuery } from '../suspension/owner-suspension.js';
import { CapRule } from './cap-rule.js';
import { WakeLedger } from './wake-ledger.js';
import { COUNT_WAKE } from './wake-statements.js';

const caps = new CappedWakes();

beforeAll(() => caps.start());
afterAll(() => caps.stop());

describe('wakes that their command checked before', () => {
  it('never exceed the limit when a call checks each before it begins, in two processes', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 60 });
    const both = caps.rules();
    for (let n = 0; n < 20; n++) await checkAndAdmit(both[n < 10 ? 0 : 1], owner);
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) => checkAndAdmit(both[n % 2] as OwnerAdmission, owner)),
    );
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(40);
    expect(outcomes.filter((outcome) => outcome === 'wake_limit_reached')).toHaveLength(60);
  });

  it.each([
    ['alone', 0, 0, 20],
    ['after another process counted most of them', 0, 17, 2],
    ['with most of them in the log', 15, 0, 5],
  ])('never exceed a limit that was far away, %s', async (_, inTheLog, elsewhere, left) => {
    const owner = await caps.anEndUser({ wakes_per_hour: 20 });
    const [one, other] = caps.rules();
    if (inTheLog > 0) await caps.wakesInLog(owner.endUserId, inTheLog);
    const outcomes: string[] = [];
    if (elsewhere > 0) await checkAndAdmit(one, owner);
    for (let n = 0; n < elsewhere; n++) await checkAndAdmit(other, owner);
    for (let n = 0; n < 25; n++) outcomes.push(await checkAndAdmit(one, owner));
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(left);
  });

  it('never exceed the limit with those that began before there was one, and reach the table later', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 20 });
    const [rule] = caps.rules();
    expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    await caps.wakesInLog(owner.endUserId, 15);
    const outcomes: string[] = [];
    for (let n = 0; n < 10; n++) outcomes.push(await checkAndAdmit(rule, owner));
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(4);
  });

  it('are refused at a limit that was lowered after many more would have fitted', async () => {
    const owner = await caps.anEndUser({ wakes_per_hour: 100 });
    const [rule] = caps.rules();
    for (let n = 0; n < 5; n++) expect(await checkAndAdmit(rule, owner)).toBe('admitted');
    await caps.changePolicy(owner.endUserId, { wakes_per_hour: 5 });
    expect(await checkAndAdmit(rule, owner)).toBe('wake_limit_reached');
  });

  it.each([
    ['no statement without a limit', {}, []],
    ['one small statement far from the limit', { wakes_per_hour: 60 }, [COUNT_WAKE]],
  ])('cost, after the check of their command, %s', async (_, policy, statements) => {
    const owner = await caps.anEndUser(policy);
    const query = vi.fn<SqlRunner['query']>((...asked) => caps.database.query(...asked));
    const ledger = new WakeLedger({ query: query as SqlRunner['query'] });
    const rule = new OwnerAdmission(new OwnerSuspensionQuery(caps.database), new CapRule(ledger, caps.clock));
    await checkAndAdmit(rule, owner);
    const agentId = newId('agt');
    await caps.inLog(caps.created(agentId, owner.endUserId), caps.asleep(agentId, 1));
    for (const epoch of [2, 3, 4]) {
      const wake = { ...wakeOf(agentId, epoch), commandId: newId('cmd') };
      await rule.admit('check', owner, wake);
      query.mockClear();
      expect(await rule.admit('wake', owner, wake)).toMatchObject({ policy });
      expect(query.mock.calls.map(([sql]) => sql)).toEqual(statements);
      await caps.inLog(caps.starting(agentId, epoch, 'wake'), caps.asleep(agentId, epoch));
    }
  });

  it('are not decided by the check of another command, or of one long ago', async () => {
    const owner = await caps.anEndUser({});
    const [rule] = caps.rules();
    const before = caps.now;
    for (const [commandId, ms] of [
      [newId('cmd'), 0],
      [null, 2_000],
    ] as const) {
      const wake = { ...wakeOf(newId('agt'), 2), commandId: newId('cmd') };
      await rule.admit('check', owner, wake);
      caps.now += ms;
      await caps.changePolicy(owner.endUserId, { wakes_per_hour: 0 });
      const begun = commandId === null ? wake : { ...wake, commandId };
      expect(await codeOf(rule.admit('wake', owner, begun))).toBe('wake_limit_reached');
      await caps.changePolicy(owner.endUserId, {});
    }
    caps.now = before;
  });
});
