import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent, type Told } from './fixtures/served-billing.fixture.js';
import { ToldComputer } from './fixtures/told-computer.fixture.js';

/** Seats for 310 cents a month: 10 a day in October. */
const PLANS = `plans:
  - id: default
    hosting: metered
    rates: { vcpuHourCents: 3600, memGbHourCents: 900, diskGbMonthCents: 0.000001 }
  - { id: team, hosting: seat, priceCentsPerMonth: 310 }
`;

/** The clock of the service, which stands still until a test sets it. */
let now = Date.parse('2026-10-01T00:00:00.000Z');
let folder: string;
let billing: ServedBilling;
let accountId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-computer-prices-'));
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

const account = (type: string, data: Record<string, string>): Told => ({
  stream: `account-${accountId}`,
  type,
  data: { accountId, name: 'x', ...data },
});
const opened = (at: string, plan: string): Told => account('AccountOpened.v2', { plan, openedAt: at });
const changed = (at: string, plan: string): Told => account('AccountChanged', { plan, changedAt: at });

/** One that runs from its creation on. */
const running = (computer: ToldComputer, at: string, vcpus = 1): readonly Told[] => [
  computer.created(at, { vcpus, memMb: 2_048, diskGb: 1_000 }),
  computer.starting(at),
  computer.started(at),
];

/** What each computer costs at that time of the service's clock, once its recount agrees with every row. */
const pricesAt = async (time: string): Promise<readonly (readonly [string, number])[]> => {
  now = Date.parse(time);
  const { asOf, rows, totals } = await billing.computerUsage(accountId);
  expect(asOf).toBe(time);
  expect(await billing.verify()).toMatchObject({ differing: 0 });
  expect(totals.hostingCents).toBe(rows.reduce((sum, { hostingCents }) => sum + hostingCents, 0));
  for (const { hostingCents, totalCents } of [...rows, totals]) expect(totalCents).toBe(hostingCents);
  return rows.map(({ hostingBasis, hostingCents }) => [hostingBasis, hostingCents] as const);
};

describe('the hosting of a computer', () => {
  it('on a metered plan is its quantities times the rates in force, rounded once for each day, half up', async () => {
    const computer = new ToldComputer();
    await billing.tell(
      accountId,
      opened('2026-10-02T00:00:00.000Z', 'default'),
      ...running(computer, '2026-10-02T23:59:50.000Z'),
    );
    // A second is a cent for the CPU, and half a cent for 2 GiB.
    expect(await pricesAt('2026-10-02T23:59:59.000Z')).toEqual([['metered', 13.5]]);
    // 1,314 s of 1,000 GiB are half a millionth of a cent: rounded up on the second day, and down on the first.
    await billing.tell(accountId, computer.asleep('2026-10-03T00:00:10.000Z'));
    expect(await pricesAt('2026-10-03T00:21:50.000Z')).toEqual([['metered', 30]]);
    expect(await pricesAt('2026-10-03T00:21:54.000Z')).toEqual([['metered', 30.000001]]);
    await billing.tell(accountId, computer.deleted('2026-10-03T00:21:54.000Z'));
    expect(await pricesAt('2026-10-03T12:00:00.000Z')).toEqual([['metered', 30.000001]]);
  });

  it('on a seat plan is nothing, on the day of a change by the plan at its end, and agents alone share the seats', async () => {
    const [computer, agent] = [new ToldComputer(), new ToldAgent()];
    await billing.tell(
      accountId,
      opened('2026-10-05T00:00:00.000Z', 'default'),
      ...running(computer, '2026-10-05T11:59:50.000Z'),
      agent.created('2026-10-05T11:00:00.000Z'),
      agent.starting('2026-10-05T11:00:00.000Z'),
      agent.started('2026-10-05T11:59:59.000Z'),
    );
    expect(await pricesAt('2026-10-05T12:00:00.000Z')).toEqual([['metered', 15]]);
    await billing.tell(accountId, changed('2026-10-05T12:00:00.000Z', 'team'));
    expect(await pricesAt('2026-10-05T13:00:00.000Z')).toEqual([['allocated', 0]]);
    expect((await billing.usage(accountId)).totals.hostingCents).toBe(10);
    await billing.tell(accountId, changed('2026-10-06T12:00:00.000Z', 'default'));
    // Metered from the change on.
    expect(await pricesAt('2026-10-06T12:00:10.000Z')).toEqual([['metered', 15]]);
    await billing.rebuild('computer-usage');
    expect(await pricesAt('2026-10-06T12:00:10.000Z')).toEqual([['metered', 15]]);
  });
});
