import { describe, expect, it } from 'vitest';
import { budgetLine, dearFiles, tooDear, unfitForTable } from './table.mjs';

const BEFORE = { 'one.spec.ts': 10, 'two.spec.ts': 20, 'three.spec.ts': 40, 'small.spec.ts': 0.1 };

describe('the costs of the suite', () => {
  it('name each file that grew by more than 30 %', () => {
    const grown = dearFiles(BEFORE, { ...BEFORE, 'three.spec.ts': 60 });
    expect(grown).toEqual([expect.stringContaining('three.spec.ts cost 60 processor seconds instead of 40')]);
  });

  it('name no file for growth that chance explains, nor on a machine that is slower for all files', () => {
    expect(dearFiles(BEFORE, { ...BEFORE, 'one.spec.ts': 18, 'small.spec.ts': 3 })).toEqual([]);
    const slower = Object.fromEntries(Object.entries(BEFORE).map(([file, seconds]) => [file, seconds * 1.5]));
    expect(dearFiles(BEFORE, slower)).toEqual([]);
  });

  it('name all files if they grew by more than a slower machine explains', () => {
    const all = Object.fromEntries(Object.entries(BEFORE).map(([file, seconds]) => [file, seconds * 6]));
    expect(dearFiles(BEFORE, all)).toHaveLength(3);
  });

  it('name no file that costs what it did when all others became much cheaper', () => {
    const cheaper = Object.fromEntries(Object.entries(BEFORE).map(([file, seconds]) => [file, seconds / 4]));
    expect(dearFiles(BEFORE, { ...cheaper, 'three.spec.ts': 40 })).toEqual([]);
  });

  it('name no file that is gone, and none that is new and costs little', () => {
    expect(dearFiles(BEFORE, { 'one.spec.ts': 10, 'new.spec.ts': 10 })).toEqual([]);
  });

  it('name a dear file that the table does not have', () => {
    const dear = dearFiles(BEFORE, { ...BEFORE, 'new.spec.ts': 11 });
    expect(dear).toEqual([expect.stringContaining('new.spec.ts cost 11 processor seconds and is not in')]);
  });

  it('fail above the budget by more than a busy machine explains', () => {
    expect(tooDear(BEFORE, 1_495, BEFORE)).toEqual([]);
    expect(tooDear(BEFORE, 1_496, BEFORE)).toEqual([
      'The run cost 1496 processor seconds, without the set-up; the budget is 1300, and above 1495 it fails.',
    ]);
    expect(budgetLine(1_000)).toContain('The run cost 1000 processor seconds');
  });

  it('are no table without those of each file, or if the run failed', () => {
    expect(unfitForTable({ minutes: 12 }, 0)).toContain('control groups');
    expect(unfitForTable({ minutes: 12, files: BEFORE }, 1)).toContain('failed');
    expect(unfitForTable({ minutes: 12, files: BEFORE }, 0)).toBeUndefined();
  });
});
