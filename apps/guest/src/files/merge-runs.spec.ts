import { describe, expect, it } from 'vitest';
import { mergeRuns } from './merge-runs.js';
import { Slices } from './slices.js';

const named = (value: number): string => String(value).padStart(6, '0');

describe('merging in slices', () => {
  it.each([[[]], [[[]]], [[['b', 'd'], ['c']]], [[['e'], ['a', 'i'], [], ['b', 'b'], ['0']]]])(
    'merges %j',
    async (runs) => {
      expect(await mergeRuns(runs, new Slices())).toEqual(runs.flat().sort());
    },
  );

  it('yields to other work before it is done', async () => {
    const runs = Array.from({ length: 64 }, (_, run) =>
      Array.from({ length: 4_000 }, (_, at) => named(at * 64 + run)),
    );
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    const merged = await mergeRuns(runs, new Slices());
    clearInterval(others);
    expect(merged).toHaveLength(256_000);
    expect(merged.every((value, index) => value === named(index))).toBe(true);
    expect(turns).toBeGreaterThan(1);
  });
});
