import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { broken, inShard, outcomeOf, problemsOf } from './judge.mjs';

const root = mkdtempSync(join(tmpdir(), 'berth-judge-'));
writeFileSync(join(root, 'source.ts'), 'const limit = 5;\nconst twice = [7, 7];\n');
writeFileSync(join(root, 'a.spec.ts'), "it.each([1])('keeps the limit %i', () => undefined);\n");
afterAll(() => rmSync(root, { recursive: true }));

const mutation = {
  ...{ guarantee: 'There is a limit.', file: 'source.ts', find: 'limit = 5', replace: 'limit = 6' },
  ...{ test: 'a.spec.ts', title: 'keeps the limit %i' },
};

describe('a break in the list', () => {
  it('has no problem if its text occurs once and its test exists', () => {
    expect(problemsOf([mutation], root)).toEqual([]);
  });

  it.each([
    ['the text is gone', { find: 'limit = 4' }],
    ['the text occurs twice', { find: '7' }],
    ['it changes nothing', { replace: mutation.find }],
    ['its file is gone', { file: 'other.ts' }],
    ['its test is gone', { test: 'b.spec.ts' }],
    ['its test has another title', { title: 'keeps the maximum %i' }],
  ])('has a problem if %s', (_what, change) => {
    expect(problemsOf([{ ...mutation, ...change }], root)).toEqual([
      expect.stringContaining('There is a limit.: '),
    ]);
  });

  it('has a guarantee of its own', () => {
    expect(problemsOf([mutation, mutation], root)).toEqual([expect.stringContaining('occurs twice')]);
  });

  it('replaces its text literally', () => {
    expect(broken('a limit = 5;', { ...mutation, replace: '$& $1' })).toBe('a $& $1;');
  });
});

describe('the outcome of a test', () => {
  const reportOf = (...tests: readonly (readonly [fullName: string, status: string])[]) => ({
    testResults: [
      {
        name: '/copy/a.spec.ts',
        assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
      },
    ],
  });

  it('is that of all tests of its title, with any values', () => {
    const passed = ['a rule keeps the limit 1', 'passed'] as const;
    const failed = ['a rule keeps the limit 2', 'failed'] as const;
    expect(outcomeOf(reportOf(passed), mutation)).toBe('passed');
    expect(outcomeOf(reportOf(passed, failed), mutation)).toBe('failed');
  });

  it('is none if no test of its title ran, whatever else failed', () => {
    expect(outcomeOf(reportOf(['another rule', 'failed']), mutation)).toBe('none');
    expect(outcomeOf(reportOf(['a rule keeps the limit 1', 'skipped']), mutation)).toBe('none');
    expect(outcomeOf(undefined, mutation)).toBe('none');
  });
});

it('each break is in exactly one shard, and the shards are of one size', () => {
  const all = Array.from({ length: 275 }, (_, index) => index);
  const shards = Array.from({ length: 24 }, (_, index) => inShard(all, `${String(index + 1)}/24`));
  expect(shards.flat()).toEqual(all);
  expect(new Set(shards.map(({ length }) => length))).toEqual(new Set([11, 12]));
});
