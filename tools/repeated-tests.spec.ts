import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './ensure-installed.mjs';
import { repeatable, runWithRepetition, withRepeated } from './repeated-tests.mjs';

type Outcome = 'passed' | 'failed' | 'skipped';

const file = (name: string, tests: Readonly<Record<string, Outcome>>, status = 'passed'): object => ({
  name: join(ROOT, name),
  status,
  assertionResults: Object.entries(tests).map(([title, status]) => ({
    ancestorTitles: ['a thing'],
    title,
    status,
  })),
});

const report = (...testResults: readonly object[]): object => ({ testResults });

const counts = { passed: 10, failed: 2, notRun: 0 };

describe('failed tests', () => {
  it('run again in their files, and no others do', () => {
    const failed = report(
      file('a.spec.ts', { 'a is kept': 'passed', 'a (b) is 1.5|2': 'failed' }),
      file('b.spec.ts', { 'b ends': 'failed' }),
      file('c.spec.ts', { 'c ends': 'passed' }),
    );
    const again = repeatable(failed, 2);
    expect(again?.arguments.slice(0, -1)).toEqual([
      'a.spec.ts',
      'b.spec.ts',
      '--no-file-parallelism',
      '--testNamePattern',
    ]);
    const pattern = new RegExp(again?.arguments.at(-1) ?? '');
    expect(['a thing > a (b) is 1.5|2', 'a thing > b ends'].every((name) => pattern.test(name))).toBe(true);
    const others = ['a thing > a (b) is 145', 'a thing > b ends late', 'a thing > a is kept', 'b ends', '2'];
    expect(others.some((name) => pattern.test(name))).toBe(false);
  });

  it.each([
    ['of a lane', ['--project=!long'], ['--project=!long']],
    ['of a shard', ['--project=core', '--shard=2/8'], ['--project=core']],
  ])('%s run again in their lane', async (_what, given, kept) => {
    const runs: string[][] = [];
    const failed = { ...report(file('a.spec.ts', { 'a ends': 'failed' })), numFailedTests: 1 };
    const tests = await runWithRepetition(given, (chosen) => {
      runs.push(chosen);
      return Promise.resolve({ report: runs.length === 1 ? failed : report(), code: 1 });
    });
    expect(runs[1]?.slice(0, kept.length + 1)).toEqual([...kept, 'a.spec.ts']);
    expect(tests).toMatchObject({ failed: 1, unstable: [], broken: ['a.spec.ts > a thing > a ends'] });
  });

  it.each([
    ['a run of chosen tests', ['--project=unit', 'libs/kernel']],
    ['the long lane, which would draw other seeds', ['--project=long', '--shard=2/8']],
  ])('do not run again in %s', async (_what, given) => {
    let runs = 0;
    const failed = { ...report(file('a.spec.ts', { 'a ends': 'failed' })), numFailedTests: 1 };
    const tests = await runWithRepetition(given, () => {
      runs++;
      return Promise.resolve({ report: failed, code: 1 });
    });
    expect(runs).toBe(1);
    expect(tests).toMatchObject({ failed: 1, broken: ['a.spec.ts > a thing > a ends'] });
  });

  it('do not run again if an error outside of them failed the run as well, which would be lost', async () => {
    let runs = 0;
    const failed = report(file('a.spec.ts', { 'a ends': 'failed' }));
    const tests = await runWithRepetition([], () => {
      runs++;
      return Promise.resolve({ report: { ...failed, numFailedTests: 1, unhandledErrors: 1 }, code: 1 });
    });
    expect(runs).toBe(1);
    expect(tests.failed).toBe(2);
  });

  it('do not run again if there are more than twenty', () => {
    const names = Array.from({ length: 21 }, (_, n): [string, Outcome] => [`test ${n}`, 'failed']);
    expect(repeatable(report(file('a.spec.ts', Object.fromEntries(names))), 21)).toBeUndefined();
  });

  it('run again together with those that did not run because the set-up of their file failed', () => {
    const one = file('a.spec.ts', { 'a ends': 'failed' }, 'failed');
    const broken = report(one, file('b.spec.ts', { 'b ends': 'skipped' }, 'failed'));
    expect(repeatable(broken, 2)?.tests).toEqual([
      { file: 'a.spec.ts', name: 'a thing > a ends', ran: true },
      { file: 'b.spec.ts', name: 'a thing > b ends', ran: false },
    ]);
    const left = report(one, file('b.spec.ts', { 'b ends': 'skipped' }));
    expect(repeatable(left, 2)).toBeUndefined();
  });

  it('do not run again if something else failed as well, or nothing', () => {
    const one = report(file('a.spec.ts', { 'a ends': 'failed' }));
    expect(repeatable(one, 2)).toBeUndefined();
    expect(repeatable(report(file('a.spec.ts', { 'a ends': 'passed' })), 0)).toBeUndefined();
    expect(repeatable(undefined, 1)).toBeUndefined();
  });

  it('count as passed, and are named, only if they passed when they ran again', () => {
    const tests = [
      { file: 'a.spec.ts', name: 'a thing > a ends', ran: false },
      { file: 'b.spec.ts', name: 'a thing > b ends', ran: true },
    ];
    const again = report(
      file('a.spec.ts', { 'a ends': 'passed', 'b ends': 'passed' }),
      file('b.spec.ts', { 'b ends': 'failed' }),
    );
    expect(withRepeated({ ...counts, notRun: 1 }, tests, { report: again, code: 1 })).toEqual({
      passed: 11,
      failed: 1,
      notRun: 0,
      unstable: ['a.spec.ts > a thing > a ends'],
      broken: ['b.spec.ts > a thing > b ends'],
    });
    expect(withRepeated(counts, tests, { report: undefined, code: 1 })).toEqual({
      ...counts,
      unstable: [],
      broken: tests.map(({ file: of, name }) => `${of} > ${name}`),
    });
  });

  it('leave one failure if all of them passed when they ran again, and that run failed all the same', () => {
    const tests = [{ file: 'a.spec.ts', name: 'a thing > a ends', ran: true }];
    const again = report(file('a.spec.ts', { 'a ends': 'passed' }));
    const one = { passed: 10, failed: 1, notRun: 0 };
    expect(withRepeated(one, tests, { report: again, code: 1 })).toMatchObject({ passed: 11, failed: 1 });
    expect(withRepeated(one, tests, { report: again, code: 0 })).toMatchObject({ passed: 11, failed: 0 });
  });
});
