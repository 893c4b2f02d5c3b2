import type { DailyUsageRow } from '@berth/contracts/billing';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent } from '../fixtures/served-billing.fixture.js';

const FROM = '2026-11-01T00:00:00.000Z';
const TO = '2026-11-20T00:00:00.000Z';

let billing: ServedBilling;
const accounts = [newId('acc'), newId('acc')];

beforeAll(async () => {
  billing = await ServedBilling.start();
  for (const accountId of accounts)
    for (const hour of ['06', '09', '23']) {
      const agent = new ToldAgent();
      const at = (day: number, time: string): string => `2026-11-${String(day).padStart(2, '0')}T${time}Z`;
      await billing.tell(
        accountId,
        agent.created(at(3, `${hour}:00:00.000`), { vcpus: 0.5, memMb: 300, diskGb: 3 }),
        agent.starting(at(3, `${hour}:00:00.000`)),
        agent.started(at(3, `${hour}:00:01.234`)),
        agent.chat(at(3, `${hour}:10:00.000`)),
        agent.execution(at(3, `${hour}:10:00.000`)),
        // Past midnight.
        agent.asleep(at(4, '01:02:03.004')),
        agent.starting(at(6, '00:00:00.000'), 'wake'),
        agent.started(at(6, '00:00:00.500')),
        agent.stopped(at(8, '00:00:00.000')),
        ...(hour === '06' ? [agent.deleted(at(9, '12:00:00.000'))] : []),
      );
    }
});
afterAll(() => billing.stop());

const viewed = (accountId: string): Promise<unknown[]> =>
  billing.database.query(
    `SELECT jsonb_build_object(
       'date', date, 'agentId', agent_id, 'agentName', agent_name, 'externalId', external_id,
       'externalUserId', external_user_id, 'hostingBasis', hosting_basis, 'activeSeconds', active_seconds,
       'computeMinutes', compute_minutes, 'vcpuSeconds', vcpu_seconds, 'memGbSeconds', mem_gb_seconds,
       'diskGbSeconds', disk_gb_seconds, 'wakes', wakes, 'chats', chats, 'executions', executions,
       'llm', jsonb_build_object('requests', llm_requests, 'inputTokens', llm_input_tokens,
         'outputTokens', llm_output_tokens),
       'hostingCents', hosting_cents, 'aiCents', ai_cents, 'totalCents', total_cents) AS row
     FROM analytics.usage_daily WHERE account_id = $1 AND date < $2::date ORDER BY date, agent_id`,
    [accountId, TO],
  );

describe('the views for analysts', () => {
  const expectSame = async (): Promise<void> => {
    for (const accountId of accounts) {
      const { rows } = await billing.daily(accountId, { from: FROM, to: TO });
      expect(rows.length).toBeGreaterThan(30);
      expect((await viewed(accountId)).map((found) => (found as { row: DailyUsageRow }).row)).toEqual(rows);
    }
  };

  it('have the rows of every day as the API shows them, to the last digit, also after a rebuild', async () => {
    await expectSame();
    await billing.rebuild();
    await expectSame();
  });

  it('add up: the days of an agent to its row', async () => {
    const differing = await billing.database.query(`
      SELECT agent_id FROM analytics.usage_by_agent total JOIN (
        SELECT agent_id, sum(total_cents) AS cents, sum(chats) AS chats, min(date) AS first
        FROM analytics.usage_daily GROUP BY agent_id) AS days USING (agent_id)
      WHERE days.chats <> total.chats OR days.first <> total.first_date
        OR abs(days.cents - total.total_cents) > 0.000001`);
    expect(differing).toEqual([]);
  });

  it('are readable for the role of analysts, and their tables are not', async () => {
    const privileges = await billing.database.query(
      `SELECT view, has_table_privilege('berth_analyst', view, 'SELECT') AS reads,
         has_table_privilege('berth_analyst', view, 'INSERT, UPDATE, DELETE, TRUNCATE') AS writes
       FROM unnest(ARRAY['analytics.usage_daily', 'analytics.usage_by_agent', 'billing.usage_days',
         'billing.usage_agents']) AS view ORDER BY view`,
    );
    expect(privileges).toEqual([
      { view: 'analytics.usage_by_agent', reads: true, writes: false },
      { view: 'analytics.usage_daily', reads: true, writes: false },
      { view: 'billing.usage_agents', reads: false, writes: false },
      { view: 'billing.usage_days', reads: false, writes: false },
    ]);
  });

  it('say of every column what it means', async () => {
    const unexplained = await billing.database.query(
      `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       WHERE c.relnamespace = 'analytics'::regnamespace AND col_description(c.oid, a.attnum) IS NULL`,
    );
    expect(unexplained).toEqual([]);
  });
});
