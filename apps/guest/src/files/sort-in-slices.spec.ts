import { describe, expect, it } from 'vitest';
import { byCodePoint, mergeRuns } from './sort-in-slices.js';
import { Slices } from './slices.js';

const numbers = (left: number, right: number): number => left - right;

describe('sorting in slices', () => {
  it.each([[[]], [[[]]], [[[1, 3], [2]]], [[[5], [1, 9], [], [2, 2], [0]]]])('merges %j', async (runs) => {
    expect(await mergeRuns(runs, numbers, new Slices())).toEqual(runs.flat().sort(numbers));
  });

  it('yields to other work before it is done', async () => {
    const runs = Array.from({ length: 64 }, (_, run) =>
      Array.from({ length: 4_000 }, (_, at) => at * 64 + run),
    );
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    const merged = await mergeRuns(runs, numbers, new Slices());
    clearInterval(others);
    expect(merged).toHaveLength(256_000);
    expect(merged.every((value, index) => value === index)).toBe(true);
    expect(turns).toBeGreaterThan(1);
  });

  it('orders names by their UTF-8 bytes', () => {
    const names = [
      'b',
      'a',
      '',
      'ab',
      'B',
      'ä',
      '\uFF5E',
      '\u{1F600}',
      '\u{1F600}a',
      '\uE000',
      '\u{10FFFF}',
      '\uD7FF',
    ];
    const bytes = (name: string): Buffer => Buffer.from(name);
    expect(names.toSorted(byCodePoint)).toEqual(
      names.toSorted((left, right) => Buffer.compare(bytes(left), bytes(right))),
    );
  });
});
