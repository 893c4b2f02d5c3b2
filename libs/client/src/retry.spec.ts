import { describe, expect, it } from 'vitest';
import { backoffMs, retryAfterMs } from './retry.js';

describe('the wait before a repeat', () => {
  it.each([
    [0, 500],
    [1, 1_000],
    [3, 4_000],
    [4, 8_000],
    [50, 8_000],
  ])('after attempt %i is 0.75 to 1 of %i ms', (attempt, most) => {
    const waits = Array.from({ length: 200 }, () => backoffMs(attempt));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(most * 0.75);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(new Set(waits).size).toBeGreaterThan(100);
  });

  it.each([
    ['0', 0],
    ['1.5', 1_500],
    [' 3 ', 3_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('of Retry-After %j is %s ms', (value, ms) => {
    expect(retryAfterMs(new Headers({ 'retry-after': value }))).toBe(ms);
  });
});
