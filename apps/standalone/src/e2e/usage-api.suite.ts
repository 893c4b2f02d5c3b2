import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

interface Row {
  readonly date?: string;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly activeSeconds: number;
  readonly wakes: number;
  readonly chats: number;
  readonly executions: number;
}

interface Report {
  readonly rows: readonly Row[];
  readonly totals: Omit<Row, 'agentId' | 'agentName'>;
  readonly asOf: string;
}

interface MoneyRow extends Row {
  readonly aiCents: number;
}

interface MoneyReport {
  readonly from: string;
  readonly to: string;
  readonly rows: readonly MoneyRow[];
  readonly totals: MoneyRow;
  readonly nextCursor: string | null;
}

const millionths = (figure: number): number => Math.round(figure * 1_000_000);
const sumOf = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + millionths(figure), 0);

/** Usage over HTTP, of real agents. */
export const describeUsage = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('usage', () => {
    it('has what an agent did within seconds, in totals, by day and as CSV, also when it is deleted', async () => {
      const { key } = await openAccount(api, 'usage');
      const agentId = await runningAgentOf(api, key, { name: 'counted', externalId: 'c-1' });
      const agent = `/api/agents/${agentId}`;
      expect((await api.post(`${agent}/chat`, { message: 'hello' }, { key })).status).toBe(200);
      expect((await api.post(`${agent}/exec`, { command: 'true' }, { key })).status).toBe(200);
      await api.post(`${agent}/sleep`, undefined, { key });
      await api.post(`${agent}/start`, undefined, { key });
      const counted = { agentId, agentName: 'counted', wakes: 1, chats: 1, executions: 1 };
      await eventually(
        async () => {
          const { body, status } = await api.get<Report>('/api/v1/usage', { key });
          expect(status).toBe(200);
          expect(body.rows).toMatchObject([counted]);
          expect(Math.abs(Date.parse(body.asOf) - Date.now())).toBeLessThan(10_000);
        },
        { timeoutMs: 20_000 },
      );
      expect((await api.call('DELETE', agent, { key })).status).toBe(204);
      const total = await api.get<Report>('/api/v1/usage', { key });
      expect(total.body.rows).toMatchObject([counted]);
      expect(total.body.rows[0]?.activeSeconds).toBeGreaterThan(0);
      const daily = await api.get<Report>('/api/v1/usage/daily', { key });
      const active = daily.body.rows.reduce((sum, { activeSeconds }) => sum + activeSeconds * 1_000, 0);
      expect(Math.round(active)).toBe(Math.round((daily.body.totals.activeSeconds ?? 0) * 1_000));
      const csv = await fetch(`${stack().urls[0] ?? ''}/api/v1/usage`, {
        headers: { authorization: `Bearer ${key}`, accept: 'text/csv' },
      });
      expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
      const [header, row] = (await csv.text()).split('\r\n');
      expect(header).toMatch(/^agentId,agentName,externalId,.*,llm\.requests,.*,totalCents$/);
      expect(row).toMatch(new RegExp(`^${agentId},counted,c-1,,metered,`));
    });

    it('is paged with each row once, filtered by end user and agent, and adds up to the calls of models, exactly', async () => {
      const { id, key } = await openAccount(api, 'usage in pages');
      await api.post(`${ACCOUNTS}/${id}/credits`, { cents: 1_000 });
      const owned = { templateId: 'probe', externalUserId: 'paged' };
      const agents = [
        await runningAgentOf(api, key, { templateId: 'probe' }),
        await runningAgentOf(api, key, owned),
        await runningAgentOf(api, key, owned),
      ].toSorted();
      for (const agentId of agents) {
        const message = { message: 'model gpt' };
        expect((await api.post(`/api/agents/${agentId}/chat`, message, { key })).status).toBe(200);
        await api.post(`/api/agents/${agentId}/stop`, undefined, { key });
      }
      const costs = async () =>
        (
          await api.get<{ items: readonly { agentId: string; costCents: number }[] }>('/api/v1/llm-calls', {
            key,
          })
        ).body.items;
      const pagesOf = async (path: string): Promise<readonly MoneyRow[]> => {
        const first = await api.get<MoneyReport>(`${path}&limit=1`, { key });
        const rows = [...first.body.rows];
        for (let cursor = first.body.nextCursor; cursor !== null;) {
          const { body } = await api.get<MoneyReport>(`${path}&limit=1&cursor=${cursor}`, { key });
          expect(body.totals.aiCents).toBe(first.body.totals.aiCents);
          rows.push(...body.rows);
          cursor = body.nextCursor;
        }
        return rows;
      };
      await eventually(
        async () => {
          const calls = await costs();
          const { totals, from, to } = (await api.get<MoneyReport>('/api/v1/usage', { key })).body;
          const range = `from=${from.slice(0, 10)}T07:00:00Z&to=${to}`;
          const byAgent = await pagesOf(`/api/v1/usage?${range}`);
          const byDay = await pagesOf(`/api/v1/usage/daily?${range}`);
          expect(byAgent.map(({ agentId }) => agentId)).toEqual(agents);
          expect(sumOf(calls.map(({ costCents }) => costCents))).toBeGreaterThan(0);
          for (const rows of [byAgent, byDay])
            expect(sumOf(rows.map(({ aiCents }) => aiCents))).toBe(millionths(totals.aiCents));
          for (const agentId of agents) {
            const ofAgent = ({ agentId: other }: { readonly agentId: string }): boolean => other === agentId;
            expect(millionths(byAgent.find(ofAgent)?.aiCents ?? 0)).toBe(
              sumOf(calls.filter(ofAgent).map(({ costCents }) => costCents)),
            );
            expect(sumOf(byDay.filter(ofAgent).map(({ activeSeconds }) => activeSeconds))).toBe(
              millionths(byAgent.find(ofAgent)?.activeSeconds ?? 0),
            );
          }
          const ofUser = await api.get<MoneyReport>(`/api/v1/usage?${range}&externalUserId=paged`, { key });
          expect(ofUser.body.rows).toHaveLength(2);
          const ofOne = await api.get<MoneyReport>(`/api/v1/usage?${range}&agentId=${String(agents[0])}`, {
            key,
          });
          expect(ofOne.body.rows).toMatchObject([{ agentId: agents[0] }]);
        },
        { timeoutMs: 20_000 },
      );
    });

    it('has a range of whole days: midnight stays, anything else is taken back or forward to it', async () => {
      for (const [from, to, begin, end] of [
        ['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z', '2026-10-01', '2026-10-02'],
        ['2026-10-01T23:59:59.999Z', '2026-10-02T00:00:00.001Z', '2026-10-01', '2026-10-03'],
        ['2026-10-01T00:00:00%2B02:00', '2026-10-02', '2026-09-30', '2026-10-02'],
        ['2025-09-01', '2026-10-06', '2025-09-01', '2026-10-06'],
      ]) {
        const { status, body } = await api.get(`/api/v1/usage?from=${from}&to=${to}`);
        expect([status, body['from'], body['to'], body['currency']], `${from} ${to}`).toEqual([
          ...[200, `${begin}T00:00:00.000Z`, `${end}T00:00:00.000Z`, 'USD'],
        ]);
      }
    });

    it('refuses ranges that are reversed, too long or no times with 400', async () => {
      for (const query of [
        'from=2026-11-02&to=2026-11-01',
        'from=2025-01-01&to=2026-11-01',
        'from=2025-08-31T23:59:59Z&to=2026-10-06',
        'limit=0',
        'from=yesterday',
        'limit=10001',
        'cursor=x',
      ])
        expect(await api.get(`/api/v1/usage?${query}`), query).toMatchObject({
          status: 400,
          body: { detail: { code: 'invalid_request' } },
        });
    });
  });
};
