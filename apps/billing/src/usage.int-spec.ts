import { newId } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent } from './fixtures/served-billing.fixture.js';

let billing: ServedBilling;

beforeAll(async () => {
  billing = await ServedBilling.start();
});
afterAll(() => billing.stop());

const NOVEMBER = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };

describe('the usage of an agent', () => {
  it('counts the time from running until it is not, wakes, chats, executions and sizes', async () => {
    const accountId = newId('acc');
    const agent = new ToldAgent();
    const day = (time: string): string => `2026-11-10T${time}Z`;
    await billing.tell(
      accountId,
      agent.created(day('08:00:00.000'), {
        vcpus: 0.5,
        memMb: 256,
        diskGb: 4,
        name: 'ada',
        externalId: 'x-1',
      }),
      agent.starting(day('08:00:00.000')),
      agent.started(day('08:00:02.500')),
      agent.chat(day('08:00:03.000')),
      agent.execution(day('08:00:04.000')),
      agent.execution(day('08:00:05.000')),
      agent.asleep(day('08:01:00.001')),
      agent.asleep(day('08:06:00.000'), 'cold'),
      agent.starting(day('09:00:00.000'), 'wake'),
      agent.started(day('09:00:01.000')),
      agent.chat(day('09:00:02.000')),
      agent.stopped(day('09:00:11.000')),
      agent.deleted(day('10:00:00.000')),
    );
    const { rows, totals, from, to, currency, nextCursor } = await billing.usage(accountId, NOVEMBER);
    const llm = { requests: 0, inputTokens: 0, outputTokens: 0 };
    const figures = { wakes: 1, chats: 2, executions: 2, llm, hostingCents: 0, aiCents: 0, totalCents: 0 };
    const row = {
      ...{ agentId: agent.id, agentName: 'ada', externalId: 'x-1', externalUserId: null },
      hostingBasis: 'metered',
      activeSeconds: 67.501,
      computeMinutes: 1.125017,
      vcpuSeconds: 33.7505,
      memGbSeconds: 16.87525,
      diskGbSeconds: 28_800,
      ...figures,
    };
    expect(rows).toEqual([row]);
    expect(totals).toEqual({ activeSeconds: 67.501, ...figures, unallocatedCents: 0 });
    expect({ from, to, currency, nextCursor }).toEqual({
      ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
      ...{ currency: 'USD', nextCursor: null },
    });
    const daily = await billing.daily(accountId, NOVEMBER);
    expect(daily.rows).toEqual([{ date: '2026-11-10', ...row }]);
  });
});
