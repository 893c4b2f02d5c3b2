import { RECOUNTED_WITHIN_MS } from '@berth/contracts/billing';
import { describe, expect, it, vi } from 'vitest';
import { berth } from './recording-service.fixture.js';

const verification = {
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  asOf: '2026-12-01T00:00:00.000Z',
  ...{ accounts: 2, events: 30, rows: 4, differing: 0, differences: [] },
};

describe('berth usage verify', () => {
  it('tells what was compared, and ends with 0 if nothing differs', async () => {
    const respond = () => ({ status: 200, body: verification });
    const result = await berth(['usage', 'verify', '--from', '2026-11-01'], { respond });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.out).toContain('2 accounts, 4 rows');
    expect(result.seen.map(({ url }) => url)).toEqual(['/api/v1/operations/usage-recount?from=2026-11-01']);
  });

  it('waits for as long as the service may take to read the whole log', async () => {
    const within = vi.spyOn(AbortSignal, 'timeout');
    await berth(['usage', 'verify'], { respond: () => ({ status: 200, body: verification }) });
    expect(within.mock.calls.flat().every((ms) => ms > RECOUNTED_WITHIN_MS)).toBe(true);
    expect(within).toHaveBeenCalled();
    within.mockRestore();
  });

  it('lists the figures that differ, and ends with 1', async () => {
    const difference = {
      ...{ accountId: 'acc_1', date: '2026-11-02', agentId: 'agt_1', member: 'chats' },
      ...{ counted: '3', recounted: '2' },
    };
    const body = { ...verification, differing: 1, differences: [difference] };
    const result = await berth(['usage', 'verify'], { respond: () => ({ status: 200, body }) });
    expect(result.exitCode).toBe(1);
    expect(result.out).toMatch(/acc_1 +2026-11-02 +agt_1 +chats +3 +2/);
  });
});
