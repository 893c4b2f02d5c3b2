import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.js';

describe('a bounded map', () => {
  const filled = (limit: number, count: number): BoundedMap<number, string> => {
    const map = new BoundedMap<number, string>(limit);
    for (let key = 1; key <= count; key += 1) map.set(key, `v${key}`);
    return map;
  };
  const held = (map: BoundedMap<number, string>, count: number): number[] =>
    Array.from({ length: count }, (_, index) => count - index).filter((key) => map.get(key) !== undefined);

  it('keeps at least the newest half of its limit and never more than its limit', () => {
    const keys = held(filled(10, 1_003), 1_003);
    expect(keys.slice(0, 5)).toEqual([1_003, 1_002, 1_001, 1_000, 999]);
    expect(keys.length).toBeLessThanOrEqual(10);
  });

  it('keeps entries that are used', () => {
    const map = filled(10, 3);
    for (let key = 100; key < 200; key += 1) {
      map.set(key, 'new');
      expect(map.get(1)).toBe('v1');
    }
    expect(map.get(2)).toBeUndefined();
  });

  it('returns the value set last, also for an existing key, and nothing for a deleted one', () => {
    const map = filled(10, 6);
    map.set(1, 'again');
    expect(map.get(1)).toBe('again');
    map.delete(1);
    expect(map.get(1)).toBeUndefined();
    map.clear();
    expect(held(map, 6)).toEqual([]);
  });

  it('stores the millionth entry as fast as the first', () => {
    const map = filled(100_000, 100_000);
    const timed = (from: number): number => {
      const start = performance.now();
      for (let key = from; key < from + 100_000; key += 1) map.set(key, 'x');
      return performance.now() - start;
    };
    const early = timed(200_000);
    for (let key = 300_000; key < 1_000_000; key += 1) map.set(key, 'x');
    expect(timed(1_000_000)).toBeLessThan(early * 10 + 100);
  });
});
