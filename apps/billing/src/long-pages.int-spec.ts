import type { UsageReport } from '@berth/contracts/billing';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayOf } from './meter/utc-day.js';
import { ServedBilling } from './fixtures/served-billing.fixture.js';

let billing: ServedBilling;

const accountId = newId('acc');

beforeAll(async () => {
  billing = await ServedBilling.start();
  await haveAgents();
});
afterAll(() => billing.stop());

const AGENTS = 10_000;
const DAY = { from: '2026-11-10T00:00:00Z', to: '2026-11-11T00:00:00Z' };
/** Of four bytes each. */
const EXTERNAL_ID = '🦞'.repeat(128);

/** Deleted agents with the longest names, each with figures of many digits on one day. */
const haveAgents = async (): Promise<void> => {
  const at = Date.parse(DAY.from);
  await billing.database.query(
    `INSERT INTO usage_agents SELECT 'agt_' || lpad(n::text, 26, '0'), $1, NULL, repeat('n', 128), $2, repeat('u', 128),
       $3::bigint, $3 + 60000, 'failed', NULL, $3 + 60000, 1000000, 512, 2 FROM generate_series(1, $4::integer) AS n`,
    [accountId, EXTERNAL_ID, at, AGENTS],
  );
  await billing.database.query(
    `INSERT INTO usage_days SELECT $1, $2::bigint, agent_id, 59999, 59999000001, 30719999, 119998, 0, 123456789, 123456789,
       123456789, 123456789, 123456789012, 123456789012, 123456789012345 FROM usage_agents WHERE account_id = $1`,
    [accountId, dayOf(at)],
  );
};

describe('10,000 rows with the longest names', () => {
  it.each(['usage', 'daily'] as const)(
    'are more than one response holds: pages follow, with every row once and the totals of all (%s)',
    async (list) => {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const page: UsageReport = await billing[list](accountId, { ...DAY, cursor });
        ids.push(...page.rows.map(({ agentId }) => agentId));
        expect(page.totals).toMatchObject({ wakes: 123_456_789 * AGENTS });
        expect(page.rows.length).toBeGreaterThan(2_000);
        ({ nextCursor: cursor } = page);
      } while (cursor !== null);
      expect([ids.length, new Set(ids).size]).toEqual([AGENTS, AGENTS]);
    },
  );
});
