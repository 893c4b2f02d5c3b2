import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DailyUsageRow, UsageReport } from '@berth/contracts/billing';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent, type Told } from './fixtures/served-billing.fixture.js';

/** A cent for each CPU and second, and seats for 310 cents a month: 10 a day in October. */
const PLANS = `plans:
  - { id: default, hosting: metered, rates: { vcpuHourCents: 3600, memGbHourCents: 0, diskGbMonthCents: 0 } }
  - { id: team, hosting: seat, priceCentsPerMonth: 310 }
`;
const START = '2026-10-29T00:00:00.000Z';

/** The clock of the service, which stands still until a test sets it. */
let now = Date.parse(START);
let folder: string;
let billing: ServedBilling;
let accountId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-midnight-'));
  const file = join(folder, 'berth.yaml');
  writeFileSync(file, PLANS);
  billing = await ServedBilling.start({ BERTH_CONFIG: file }, { now: () => now });
  await eventually(async () => expect(await billing.store.read('pricing-plans')).toHaveLength(1));
});
afterAll(async () => {
  await billing.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  accountId = newId('acc');
});

const opened = (at: string, plan: string): Told => account('AccountOpened.v2', { plan, openedAt: at });
const changed = (at: string, plan: string): Told => account('AccountChanged', { plan, changedAt: at });
const account = (type: string, data: Record<string, string>): Told => ({
  stream: `account-${accountId}`,
  type,
  data: { accountId, name: 'x', ...data },
});
/** One that runs from its creation on. */
const running = (agent: ToldAgent, at: string): readonly Told[] => [
  agent.created(at, { vcpus: 1 }),
  agent.starting(at),
  agent.started(at),
];

/** The daily usage at that time of the service's clock, after its recount has agreed with every row. */
const at = async (time: string): Promise<UsageReport<DailyUsageRow>> => {
  now = Date.parse(time);
  const report = await billing.daily(accountId);
  expect(report.asOf).toBe(time);
  expect(await billing.verify()).toMatchObject({ differing: 0 });
  return report;
};
const daysOf = ({ rows }: UsageReport<DailyUsageRow>, agent: ToldAgent) =>
  rows
    .filter(({ agentId }) => agentId === agent.id)
    .map(({ date, activeSeconds, hostingBasis, hostingCents }) => [
      date,
      activeSeconds,
      hostingBasis,
      hostingCents,
    ]);

describe('at midnight', () => {
  it('the usage of an agent that runs on is split, and the default range gains a day', async () => {
    const agent = new ToldAgent();
    await billing.tell(
      accountId,
      opened('2026-10-29T12:00:00.000Z', 'default'),
      ...running(agent, '2026-10-29T23:59:00.000Z'),
    );
    const before = await at('2026-10-29T23:59:59.999Z');
    expect(before.to).toBe('2026-10-30T00:00:00.000Z');
    expect(daysOf(before, agent)).toEqual([['2026-10-29', 59.999, 'metered', 59.999]]);
    const after = await at('2026-10-30T00:00:02.001Z');
    expect(after.to).toBe('2026-10-31T00:00:00.000Z');
    expect(daysOf(after, agent)).toEqual([
      ['2026-10-29', 60, 'metered', 60],
      ['2026-10-30', 2.001, 'metered', 2.001],
    ]);
  });

  it('of the end of a month, a seat plan charges the day in full, and the next day by the length of its month', async () => {
    const [early, late] = [new ToldAgent(), new ToldAgent()];
    await billing.tell(
      accountId,
      opened('2026-10-31T00:00:00.000Z', 'team'),
      ...running(early, '2026-10-31T12:00:00.000Z'),
    );
    // So far it is the only active agent, so the provisional share of today is its alone.
    expect(daysOf(await at('2026-10-31T13:00:00.000Z'), early)).toEqual([
      ['2026-10-31', 3_600, 'allocated', 10],
    ]);
    await billing.tell(
      accountId,
      early.stopped('2026-10-31T18:00:00.000Z'),
      ...running(late, '2026-10-31T22:00:00.000Z'),
    );
    const before = await at('2026-10-31T23:59:59.999Z');
    expect([before.totals.hostingCents, before.totals.unallocatedCents]).toEqual([10, 0]);
    const after = await at('2026-11-01T01:00:00.000Z');
    // 6 and 2 hours of activity share 10 cents; a day of November costs 310 / 30, to the millionth.
    expect(daysOf(after, early)).toEqual([
      ['2026-10-31', 21_600, 'allocated', 7.5],
      ['2026-11-01', 0, 'allocated', 0],
    ]);
    expect(daysOf(after, late)).toEqual([
      ['2026-10-31', 7_200, 'allocated', 2.5],
      ['2026-11-01', 3_600, 'allocated', 10.333334],
    ]);
    await billing.tell(accountId, late.stopped('2026-11-01T01:00:00.000Z'));
    const later = await at('2026-11-02T12:00:00.000Z');
    expect([later.totals.hostingCents, later.totals.unallocatedCents]).toEqual([20.333334, 10.333334]);
  });
});

describe('a plan that is changed in the middle of a day', () => {
  it('charges the whole day from then on, and a metered one only for the time after it', async () => {
    const agent = new ToldAgent();
    await billing.tell(
      accountId,
      opened('2026-11-03T00:00:00.000Z', 'default'),
      ...running(agent, '2026-11-03T11:00:00.000Z'),
    );
    expect(daysOf(await at('2026-11-03T12:00:00.000Z'), agent)).toEqual([
      ['2026-11-03', 3_600, 'metered', 3_600],
    ]);
    await billing.tell(accountId, changed('2026-11-03T12:00:00.000Z', 'team'));
    const seated = ['2026-11-03', 7_200, 'allocated', 10.333334];
    expect(daysOf(await at('2026-11-03T13:00:00.000Z'), agent)).toEqual([seated]);
    const whole = ['2026-11-03', 46_800, 'allocated', 10.333334];
    expect(daysOf(await at('2026-11-04T11:59:59.000Z'), agent)).toEqual([
      whole,
      ['2026-11-04', 43_199, 'allocated', 10.333334],
    ]);
    await billing.tell(accountId, changed('2026-11-04T12:00:00.000Z', 'default'));
    expect(daysOf(await at('2026-11-04T12:00:10.000Z'), agent)).toEqual([
      whole,
      ['2026-11-04', 43_210, 'metered', 10],
    ]);
    const report = await billing.daily(accountId);
    await billing.rebuild();
    expect((await billing.daily(accountId)).rows).toEqual(report.rows);
  });
});
