import { describe, expect, it } from 'vitest';
import { RecentCallers } from './recent-callers.js';

describe('the callers of the last minute', () => {
  it('are at most 10,000, without the oldest', () => {
    const callers = new RecentCallers<number>();
    for (let n = 0; n <= 10_000; n++) callers.add(`caller ${String(n)}`, n);
    expect(callers.get('caller 0')).toBeUndefined();
    expect(callers.get('caller 1')).toBe(1);
    expect(callers.get('caller 10000')).toBe(10_000);
  });
});
