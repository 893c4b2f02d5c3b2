import { describe, expect, it } from 'vitest';
import { grownFiles } from './table.mjs';

const BEFORE = { 'one.spec.ts': 10, 'two.spec.ts': 20, 'three.spec.ts': 40, 'small.spec.ts': 0.1 };

describe('the costs of the suite', () => {
  it('fail with the name of each file that grew by more than 30 %', () => {
    const grown = grownFiles(BEFORE, { ...BEFORE, 'three.spec.ts': 60 });
    expect(grown).toEqual([expect.stringContaining('three.spec.ts cost 60 processor seconds instead of 40')]);
  });

  it('do not fail for growth that chance explains, nor on a machine that is slower for all files', () => {
    expect(grownFiles(BEFORE, { ...BEFORE, 'one.spec.ts': 18, 'small.spec.ts': 3 })).toEqual([]);
    const slower = Object.fromEntries(Object.entries(BEFORE).map(([file, seconds]) => [file, seconds * 3]));
    expect(grownFiles(BEFORE, slower)).toEqual([]);
  });

  it('do not fail for a file that is new or gone', () => {
    expect(grownFiles(BEFORE, { 'one.spec.ts': 10, 'new.spec.ts': 50 })).toEqual([]);
  });
});
