import type { ComputerUsageReport, ComputerUsageRow } from '@berth/contracts/billing';
import { isoTime, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedBilling, type Told } from './fixtures/served-billing.fixture.js';
import { ToldComputer } from './fixtures/told-computer.fixture.js';

const NOVEMBER = { from: '2026-11-01T00:00:00Z', to: '2026-11-20T00:00:00Z' };
const at = (time: string): string => `2026-11-10T${time}Z`;

let billing: ServedBilling;
let accountId: string;

beforeAll(async () => {
  billing = await ServedBilling.start();
});
afterAll(() => billing.stop());
beforeEach(() => {
  accountId = newId('acc');
});

/** A computer that ran for ten seconds on November 10. */
const history = (
  computer: ToldComputer,
  creation: Parameters<ToldComputer['created']>[1] = {},
): readonly Told[] => [
  computer.created(at('08:00:00.000'), creation),
  computer.starting(at('08:00:00.000')),
  computer.started(at('08:00:01.000')),
  computer.acted(at('08:00:02.000'), 3, 1),
  computer.asleep(at('08:00:11.000')),
];

/** The report once it has counted so many active seconds: it may be of a moment up to 2 s earlier. */
const reported = (
  activeSeconds: number,
  filter: Parameters<ServedBilling['computerUsage']>[1] = {},
): Promise<ComputerUsageReport> =>
  eventually(async () => {
    const report = await billing.computerUsage(accountId, { ...NOVEMBER, ...filter });
    expect(report.totals.activeSeconds).toBe(activeSeconds);
    return report;
  });

describe('the usage of a computer', () => {
  it('counts the time from running until it is not, wakes, results, images, executions and sizes, and is none of agents', async () => {
    const computer = new ToldComputer();
    await billing.tell(
      accountId,
      computer.created(at('08:00:00.000'), { vcpus: 0.5, memMb: 256, diskGb: 4, name: 'ada' }),
      computer.starting(at('08:00:00.000')),
      computer.started(at('08:00:02.500')),
      computer.acted(at('08:00:03.000'), 100, 7),
      computer.screenshots(at('08:00:04.000'), 5),
      computer.execution(at('08:00:05.000')),
      computer.asleep(at('08:01:00.001')),
      computer.asleep(at('08:06:00.000'), 'cold'),
      computer.starting(at('09:00:00.000'), 'wake'),
      computer.started(at('09:00:01.000')),
      computer.acted(at('09:00:02.000'), 1, 0),
      computer.stopping(at('09:00:11.000')),
      computer.deleted(at('10:00:00.000')),
    );
    const { asOf, ...report } = await reported(67.501);
    const figures = {
      wakes: 1,
      actions: 101,
      screenshots: 12,
      executions: 1,
      hostingCents: 0,
      totalCents: 0,
    };
    expect(report).toEqual({
      ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' },
      ...{ currency: 'USD', nextCursor: null },
      rows: [
        {
          ...{ computerId: computer.id, name: 'ada', externalUserId: null, hostingBasis: 'metered' },
          ...{ activeSeconds: 67.501, vcpuSeconds: 33.7505, memGbSeconds: 16.87525, diskGbSeconds: 28_800 },
          ...figures,
        },
      ],
      totals: { activeSeconds: 67.501, ...figures },
    });
    expect(Math.abs(Date.parse(asOf) - Date.now())).toBeLessThan(10_000);
    expect((await billing.usage(accountId, NOVEMBER)).rows).toEqual([]);
  });

  it('in progress counts up to the moment of the report', async () => {
    const computer = new ToldComputer();
    const now = Date.now();
    await billing.tell(
      accountId,
      computer.created(isoTime(now - 100_000)),
      computer.starting(isoTime(now - 100_000)),
      computer.started(isoTime(now - 90_000)),
    );
    await eventually(async () => {
      const { rows, asOf } = await billing.computerUsage(accountId, { from: isoTime(now - 100_000) });
      const [row] = rows;
      expect(row?.activeSeconds).toBe((Date.parse(asOf) - now + 90_000) / 1_000);
      expect(row?.diskGbSeconds).toBe(((Date.parse(asOf) - now + 100_000) / 1_000) * 10);
    });
  });

  it('whose host was lost ends with the last report, and goes on without a gap if the computer ran on', async () => {
    const [gone, back] = [new ToldComputer(), new ToldComputer()];
    for (const computer of [gone, back])
      await billing.tell(
        accountId,
        ...history(computer).slice(0, 3),
        computer.unseen(at('08:00:41.000'), at('08:00:11.000')),
        computer.failed(at('08:00:41.000')),
      );
    await billing.tell(
      accountId,
      back.ranUnseen(at('08:01:11.000'), at('08:00:11.000')),
      back.started(at('08:01:11.000')),
      back.asleep(at('08:01:21.000')),
    );
    const { rows } = await reported(90);
    expect(new Map(rows.map((row) => [row.computerId, row.activeSeconds]))).toEqual(
      new Map([
        [gone.id, 10],
        [back.id, 80],
      ]),
    );
  });
});

describe('the computers of a report', () => {
  it('are those of the end user, or the one, that the request names, each on one page, with totals of all pages', async () => {
    const ada = billing.person();
    const computers = [new ToldComputer(), new ToldComputer(), new ToldComputer()];
    const [adas] = computers;
    for (const computer of computers)
      await billing.tell(
        accountId,
        ...history(computer, computer === adas ? { owner: { key: ada, externalUserId: 'ada' } } : {}),
      );
    const whole = await reported(30);
    expect(whole.rows.map(({ computerId }) => computerId)).toEqual(computers.map(({ id }) => id).toSorted());
    const rows: ComputerUsageRow[] = [];
    let cursor: string | null = null;
    do {
      const page: ComputerUsageReport = await reported(30, { cursor, limit: 2 });
      expect(page.totals).toEqual(whole.totals);
      rows.push(...page.rows);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(rows).toEqual(whole.rows);
    expect((await reported(10, { externalUserId: 'ada' })).rows).toMatchObject([
      { computerId: adas?.id, externalUserId: 'ada' },
    ]);
    expect((await reported(10, { computerId: computers[1]?.id ?? '' })).rows).toHaveLength(1);
    expect((await reported(0, { externalUserId: 'nobody' })).rows).toEqual([]);
    await expect(billing.computerUsage(accountId, { cursor: 'x' })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('have no name and no end user once that is deleted, and keep their figures, also after a rebuild', async () => {
    const ada = billing.person();
    const [adas, ours] = [new ToldComputer(), new ToldComputer()];
    const owner = { key: ada, externalUserId: 'ada' };
    await billing.tell(
      accountId,
      ...history(adas, { name: 'ada', owner }),
      ...history(ours, { name: 'ours' }),
    );
    const named = { computerId: adas.id, name: 'ada', externalUserId: 'ada' };
    const kept = { computerId: ours.id, name: 'ours', externalUserId: null };
    const before = await reported(20);
    expect(before.rows).toEqual(
      expect.arrayContaining([named, kept].map((row) => expect.objectContaining(row) as ComputerUsageRow)),
    );
    await billing.tell(accountId, adas.deleted(at('09:00:00.000')), {
      stream: `endUser-${ada.endUserId}`,
      type: 'EndUserDeleted',
      data: { endUserId: ada.endUserId, at: at('09:00:00.000') },
    });
    const unnamed = { computerId: adas.id, name: null, externalUserId: null };
    const deleted = await eventually(async () => {
      const report = await reported(20);
      expect(report.rows).toContainEqual(expect.objectContaining(unnamed));
      return report;
    });
    expect(deleted.totals).toEqual(before.totals);
    billing.keys.delete(ada.endUserId);
    await billing.rebuild('computer-usage');
    const { rows, totals } = await reported(20);
    expect(rows.toSorted(byName)).toMatchObject([unnamed, kept]);
    expect(totals).toEqual(before.totals);
    const stored = await billing.database.query(
      'SELECT name, external_user_id FROM computer_usage_computers WHERE account_id = $1 ORDER BY name',
      [accountId],
    );
    expect(stored).toEqual([
      { name: 'ours', external_user_id: null },
      { name: null, external_user_id: null },
    ]);
  });
});

const byName = (a: ComputerUsageRow, b: ComputerUsageRow): number =>
  (a.name ?? '') < (b.name ?? '') ? -1 : 1;
