import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { openAccount, runningAgentOf } from './opened-accounts.fixture.js';
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

    it('refuses ranges that are reversed, too long or no times with 400', async () => {
      for (const query of [
        'from=2026-11-02&to=2026-11-01',
        'from=2025-01-01&to=2026-11-01',
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
