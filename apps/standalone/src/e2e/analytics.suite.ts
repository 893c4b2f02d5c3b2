import { readFileSync } from 'node:fs';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables, queryTablesAs } from './tables.fixture.js';

const page = readFileSync(new URL('../../../../docs/analytics.md', import.meta.url), 'utf8');
/** The title and the text of each query of the page. */
const QUERIES = [...page.matchAll(/^(.+):\n\n```sql\n([\s\S]*?)```$/gm)].map(([, title = '', sql = '']) => [
  title,
  sql,
]);
/** The title and the SQL of each panel of the board, with Grafana's macro written out. */
const PANELS = (
  JSON.parse(
    readFileSync(new URL('../../../../infra/grafana/usage-and-cost.json', import.meta.url), 'utf8'),
  ) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { rawSql: string }[] }[];
  }
).panels.flatMap(({ title, targets }) =>
  targets.map(({ rawSql }) => [
    title,
    rawSql.replace(
      /\$__timeFilter\((\w+)\)/g,
      `$1 BETWEEN '2026-01-01T00:00:00Z' AND '2099-01-01T00:00:00Z'`,
    ),
  ]),
);
const VIEWS = ['llm_calls', 'usage_by_agent', 'usage_daily'];

/** What analysts read, and what they cannot. */
export const describeAnalytics = (stack: () => Stack): void => {
  const api = new Api(stack);
  const asAnalyst = <Row>(sql: string): Promise<readonly Row[]> =>
    queryTablesAs(stack().dataDir, 'berth_analyst', sql) as Promise<readonly Row[]>;

  describe('the views for analysts', () => {
    it('say of every column what it means', async () => {
      const columns = await queryTables(
        stack().dataDir,
        `SELECT c.relname AS view, a.attname AS column, col_description(c.oid, a.attnum) AS comment
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v' AND a.attnum > 0`,
        [],
      );
      expect([...new Set((columns as { view: string }[]).map(({ view }) => view))].toSorted()).toEqual(VIEWS);
      expect((columns as { comment: string | null }[]).filter(({ comment }) => comment === null)).toEqual([]);
    });

    it('have the figures of the API', async () => {
      const { id } = await api.runningAgent();
      await api.chat(id, 'hello');
      await api.post(`/api/agents/${id}/stop`);
      await eventually(async () => {
        const [listed] = (
          await api.get<{ rows: Record<string, unknown>[] }>(`/api/v1/usage/daily?agentId=${id}`)
        ).body.rows;
        const [row] = await asAnalyst<Record<string, unknown>>(
          `SELECT date::text, active_seconds::float8, chats::int, wakes::int, hosting_cents::float8, ai_cents::float8
           FROM analytics.usage_daily WHERE agent_id = '${id}'`,
        );
        expect(row).toEqual({
          date: listed?.['date'],
          active_seconds: listed?.['activeSeconds'],
          chats: 1,
          wakes: listed?.['wakes'],
          hosting_cents: listed?.['hostingCents'],
          ai_cents: listed?.['aiCents'],
        });
        expect(row?.['active_seconds']).toBeGreaterThan(0);
      });
    });

    it('are all that an analyst can read, and nothing that it can change', async () => {
      for (const sql of [
        'SELECT * FROM billing.usage_agents',
        'SELECT * FROM llm.llm_calls',
        'SELECT * FROM accounts_vault.key_secrets',
        'DELETE FROM analytics.usage_daily',
        'CREATE TABLE analytics.mine (id text)',
        'DROP VIEW analytics.llm_calls',
      ])
        await expect(asAnalyst(sql)).rejects.toThrow(/permission denied|must be owner|cannot delete/);
    });
  });

  describe('the queries of docs/analytics.md', () => {
    it('are there', () => expect(QUERIES.length).toBeGreaterThanOrEqual(5));

    it.each([...QUERIES, ...PANELS])('and the boards run: %s', async (_title, sql) => {
      expect(Array.isArray(await asAnalyst(sql))).toBe(true);
    });
  });
};
