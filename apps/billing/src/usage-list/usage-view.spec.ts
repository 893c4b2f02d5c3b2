import { describe, expect, it } from 'vitest';
import { usageRow, type PageRow } from './usage-view.js';

const row = (sums: Partial<PageRow>): PageRow => ({
  box_id: 'agt_1',
  day: '20000',
  seat: 0,
  name: null,
  external_id: null,
  external_user_id: null,
  ...{ active_ms: '0', vcpu: '0', mem: '0', disk: '0', hosting: '0', ai: '0' },
  ...{ wakes: '0', chats: '0', executions: '0', llm_requests: '0', input_tokens: '0', output_tokens: '0' },
  ...sums,
});

describe('a row of usage', () => {
  it('rounds each figure half up, at its last decimal', () => {
    expect(usageRow(row({ active_ms: '3600001' }))).toMatchObject({
      activeSeconds: 3_600.001,
      computeMinutes: 60.000017,
    });
    expect(usageRow(row({ vcpu: '499', mem: '1', disk: '7' }))).toMatchObject({
      vcpuSeconds: 0,
      memGbSeconds: 0.000001,
      diskGbSeconds: 0.007,
    });
    expect(usageRow(row({ vcpu: '500', mem: '64' }))).toMatchObject({
      vcpuSeconds: 0.000001,
      memGbSeconds: 0.000063,
    });
    expect(usageRow(row({ mem: '192' })).memGbSeconds).toBe(0.000188);
  });

  it.each([
    ['vcpu', 'vcpuSeconds', 1_000n],
    ['mem', 'memGbSeconds', 128n],
    ['active_ms', 'computeMinutes', 3n],
  ] as const)(
    'rounds %s alike on both sides of the greatest number that a double counts to',
    (name, figure, by) => {
      const times = { vcpu: 1n, mem: 125n, active_ms: 50n }[name];
      const limit = (9_007_199_254_740_991n - by) / (2n * times);
      for (let value = limit - 300n; value < limit + 300n; value++) {
        const millionths = (2n * times * value + by) / (2n * by);
        const [whole, decimals] = [millionths / 1_000_000n, String(millionths % 1_000_000n).padStart(6, '0')];
        expect(usageRow(row({ [name]: String(value) }))[figure]).toBe(Number(`${whole}.${decimals}`));
      }
    },
  );
});
