import { describe, expect, it } from 'vitest';
import { countsOf, EXIT_DID_NOT_END, lastCountLine } from './test-counts.mjs';

const report = (counts: object, files: object[] = []): object => ({
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: files,
  ...counts,
});

describe('the counts of a test run', () => {
  it('come from the report', () => {
    expect(countsOf(report({ numFailedTests: 2 }), 1, false)).toEqual({ passed: 5, failed: 2, notRun: 0 });
  });

  it('include a file that could not be loaded as a failure', () => {
    const files = [
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{}] },
    ];
    expect(countsOf(report({}, files), 1, false).failed).toBe(1);
  });

  it('report a failure when the run failed, even without a report', () => {
    expect(countsOf(report({}), 1, false).failed).toBe(1);
    expect(countsOf(undefined, 1, false)).toEqual({ passed: 0, failed: 1, notRun: 0 });
  });

  it('include a run that did not end as a failure of its own, so that nothing of it runs again', () => {
    expect(countsOf(report({ numFailedTests: 2 }), EXIT_DID_NOT_END, false).failed).toBe(3);
  });

  it('include errors outside of tests as one failure of its own, so that it is not lost when tests run again', () => {
    expect(countsOf(report({ numFailedTests: 2, unhandledErrors: 3 }), 1, false).failed).toBe(3);
  });

  it('include a skipped test as a failure, unless the run was filtered', () => {
    expect(countsOf(report({ numPendingTests: 1, numTodoTests: 1 }), 0, false)).toMatchObject({
      failed: 2,
      notRun: 2,
    });
    expect(countsOf(report({ numPendingTests: 1 }), 0, true)).toMatchObject({ failed: 0, notRun: 0 });
  });
});

describe('the counts of the checks', () => {
  it('come from the last line that contains counts', () => {
    expect(lastCountLine('1 passed, 9 failed\nmore\n12 passed, 3 failed\n', 1)).toEqual({
      passed: 12,
      failed: 3,
    });
  });

  it('are those of one check, judged by the exit code, if no line contains counts', () => {
    expect(lastCountLine('', 0)).toEqual({ passed: 1, failed: 0 });
    expect(lastCountLine('crash', 1)).toEqual({ passed: 0, failed: 1 });
  });
});
