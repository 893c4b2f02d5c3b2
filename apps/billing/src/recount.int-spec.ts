import type {
  ComputerUsageFigures,
  DailyUsageRow,
  UsageFigures,
  UsageReport,
  UsageRow,
} from '@berth/contracts/billing';
import { parseCents, showCents } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomHistories } from './fixtures/random-histories.fixture.js';
import { ServedBilling, ToldAgent } from './fixtures/served-billing.fixture.js';
import { recount, type RecountedRow } from './recount/recount.js';
import type { RecountedLog } from './recount/recount-history.js';

const DAY_MS = 86_400_000;
/** Long enough for every event to lie in the past. */
const FROM = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 60 * DAY_MS).toISOString();
const EVENTS = 2_000;

let billing: ServedBilling;
let histories: RandomHistories;
let log: RecountedLog;

beforeAll(async () => {
  billing = await ServedBilling.start();
  histories = new RandomHistories(Number(process.env['BERTH_TEST_SEED'] ?? 7), 6, Date.parse(FROM));
  for (let n = 0; n < EVENTS; n++) {
    const [accountId, events] = histories.next();
    await billing.tell(accountId, ...events);
  }
  log = await billing.recounted('agent');
}, 120_000);
afterAll(() => billing.stop());

const sameFigures = (row: DailyUsageRow) => ({
  day: Date.parse(row.date) / DAY_MS,
  agentId: row.agentId,
  seat: row.hostingBasis === 'allocated',
  activeMs: Math.round(row.activeSeconds * 1_000),
  counts: [row.wakes, row.chats, row.executions],
  llm: [row.llm.requests, row.llm.inputTokens, row.llm.outputTokens],
  money: [row.hostingCents, row.aiCents, row.totalCents],
});

const recountedFigures = (row: RecountedRow): ReturnType<typeof sameFigures> => ({
  day: row.day,
  agentId: row.boxId,
  seat: row.seat,
  activeMs: Number(row.activeMs),
  counts: [row.wakes, row.chats, row.executions],
  llm: [row.llmRequests, row.inputTokens, row.outputTokens],
  money: [row.hosting, row.ai, row.hosting + row.ai].map(showCents) as unknown as number[],
});

describe('random histories', () => {
  it('have the same rows and the same cents in a recount from the log alone, for each day, open intervals included', async () => {
    const compared = { metered: 0, seat: 0, unallocated: 0n };
    for (const accountId of histories.accounts) {
      const report = await billing.daily(accountId, { from: FROM });
      const range = { from: Date.parse(report.from) / DAY_MS, to: Date.parse(report.to) / DAY_MS };
      const { rows, unallocated } = recount(log, accountId, range, Date.parse(report.asOf));
      expect(report.rows.map(sameFigures)).toEqual(rows.map(recountedFigures));
      expect(report.totals.unallocatedCents).toBe(showCents(unallocated));
      for (const { seat, hosting } of rows) if (hosting > 0n) compared[seat ? 'seat' : 'metered']++;
      compared.unallocated += unallocated;
    }
    expect(compared.metered).toBeGreaterThan(50);
    expect(compared.seat).toBeGreaterThan(50);
    expect(compared.unallocated).toBeGreaterThan(0n);
  });

  it('add up: the rows of all days to the row of each agent, and both to the totals, exactly', async () => {
    for (const accountId of histories.accounts) {
      const range = { from: FROM, to: new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS).toISOString() };
      const daily = await billing.daily(accountId, range);
      const { rows, totals } = await billing.usage(accountId, range);
      const byAgent = Map.groupBy(daily.rows, ({ agentId }) => agentId);
      expect(rows.map(({ agentId }) => agentId)).toEqual([...byAgent.keys()].sort());
      for (const row of rows) {
        const days = byAgent.get(row.agentId) ?? [];
        expect(millionths(row)).toEqual(summed(days.map(millionths)));
        expect(row.hostingBasis).toBe(days.at(-1)?.hostingBasis);
      }
      expect(millionths(totals)).toEqual(summed(rows.map(millionths)));
      expect(daily.totals).toEqual(totals);
    }
  });

  it('add up for computers, too: the rows to the totals, exactly', async () => {
    const prices: number[] = [];
    for (const accountId of histories.accounts) {
      const { rows, totals } = await billing.computerUsage(accountId, { from: FROM });
      const figures = (row: ComputerUsageFigures): readonly bigint[] => [
        ...[row.hostingCents, row.totalCents].map((cents) => parseCents(cents) ?? -1n),
        BigInt(Math.round(row.activeSeconds * 1_000)),
        ...[row.wakes, row.actions, row.screenshots, row.executions].map(BigInt),
      ];
      const columns = rows.map(figures);
      expect(figures(totals)).toEqual(
        figures(totals).map((_, column) => columns.reduce((sum, row) => sum + (row[column] ?? 0n), 0n)),
      );
      prices.push(...rows.map(({ hostingCents }) => hostingCents));
    }
    expect(prices.filter((cents) => cents > 0).length).toBeGreaterThan(3);
  });

  it('agree with the verification, which names a figure that is wrong', async () => {
    const verified = await billing.verify({ from: FROM });
    expect(verified).toMatchObject({ differing: 0, differences: [] });
    expect(verified.rows).toBeGreaterThan(300);
    const ofComputers = await billing.database.query('SELECT FROM computer_usage_days WHERE hosting > 0');
    expect(ofComputers.length).toBeGreaterThan(20);
    const [row] = await billing.database.query<{ agent_id: string; chats: string }>(
      'UPDATE usage_days SET chats = chats + 1 WHERE (account_id, day, agent_id) = ' +
        '(SELECT account_id, day, agent_id FROM usage_days ORDER BY day DESC LIMIT 1) RETURNING agent_id, chats',
    );
    const [computer] = await billing.database.query<{ computer_id: string; actions: string }>(
      'UPDATE computer_usage_days SET actions = actions + 1 WHERE (account_id, day, computer_id) = ' +
        '(SELECT account_id, day, computer_id FROM computer_usage_days ORDER BY day DESC LIMIT 1) ' +
        'RETURNING computer_id, actions',
    );
    expect(await billing.verify({ from: FROM })).toMatchObject({
      differing: 2,
      differences: [
        { agentId: row?.agent_id, member: 'chats', counted: row?.chats },
        { agentId: computer?.computer_id, member: 'actions', counted: computer?.actions },
      ],
    });
  });

  it('have the same rows to the last digit after a rebuild', async () => {
    const rows = async (): Promise<unknown[]> => [
      ...(await billing.database.query('SELECT * FROM usage_days ORDER BY account_id, day, agent_id')),
      ...(await billing.database.query('SELECT * FROM usage_agents ORDER BY agent_id')),
      ...(await billing.database.query('SELECT * FROM usage_terms ORDER BY account_id, since_ms')),
      ...(await billing.database.query(
        'SELECT * FROM computer_usage_days ORDER BY account_id, day, computer_id',
      )),
      ...(await billing.database.query('SELECT * FROM computer_usage_computers ORDER BY computer_id')),
    ];
    const rebuild = async (): Promise<void> => {
      await billing.rebuild();
      await billing.rebuild('computer-usage');
    };
    await rebuild();
    const live = await rows();
    await rebuild();
    expect(await rows()).toEqual(live);
    expect(live.length).toBeGreaterThan(500);
  });

  it('are shown in pages: each row once, in order, with the totals of the whole range on every page', async () => {
    const [accountId = ''] = histories.accounts;
    const to = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS).toISOString();
    for (const read of [billing.usage.bind(billing), billing.daily.bind(billing)]) {
      const whole = await read(accountId, { from: FROM, to });
      const rows: UsageRow[] = [];
      let cursor: string | null = null;
      do {
        const page: UsageReport = await read(accountId, { from: FROM, to, cursor, limit: 2 });
        expect(page.rows.length).toBeLessThanOrEqual(2);
        expect(page.totals).toEqual(whole.totals);
        rows.push(...page.rows);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(rows).toEqual(whole.rows);
      expect(rows.length).toBeGreaterThan(3);
    }
  });

  it('agree with the verification also when an agent stopped after the moment of the verification', async () => {
    const agent = new ToldAgent();
    const now = Date.now();
    const at = (afterMs: number): string => new Date(now + afterMs).toISOString();
    await billing.tell('acc_late', agent.created(at(-9_000)), agent.starting(at(-8_000)));
    await billing.tell('acc_late', agent.started(at(-7_000)), agent.asleep(at(60_000)));
    await eventually(async () =>
      expect((await billing.usage('acc_late')).rows).toMatchObject([{ activeSeconds: 67 }]),
    );
    expect(await billing.verify({ from: FROM })).toMatchObject({ differing: 0, differences: [] });
  });
});

type Money = Pick<UsageFigures, 'hostingCents' | 'aiCents' | 'totalCents' | 'activeSeconds'>;

/** Amounts as whole numbers, which add up exactly. */
const millionths = ({ hostingCents, aiCents, totalCents, activeSeconds }: Money): readonly bigint[] => [
  ...[hostingCents, aiCents, totalCents].map((cents) => parseCents(cents) ?? -1n),
  BigInt(Math.round(activeSeconds * 1_000)),
];

const summed = (rows: readonly (readonly bigint[])[]): readonly bigint[] =>
  [0, 1, 2, 3].map((column) => rows.reduce((sum, row) => sum + (row[column] ?? 0n), 0n));
