import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure-installed.mjs';

/** The exit code of vitest when `end-of-run.reporter.mjs` has ended it. */
export const EXIT_DID_NOT_END = 75;

/** How vitest writes its report into a folder: its options, and what reads the report after the run. */
export function reportIn(folder, shown = 'default') {
  const file = join(folder, 'report.json');
  const reporter = join(ROOT, 'tools', 'end-of-run.reporter.mjs');
  return {
    options: [`--reporter=${shown}`, `--reporter=${reporter}`, `--outputFile.json=${file}`],
    read: () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined),
  };
}

/**
 * The counts from vitest's JSON report and exit code. A file that could not be loaded counts as one failure, as do errors
 * outside of tests, a non-zero exit code without a failed test, and a run that did not end. Skipped tests count as failures,
 * except in a run with the caller's own filter (`filtered`).
 *
 * @returns {{passed: number, failed: number, notRun: number}}
 */
export function countsOf(report, exitCode, filtered) {
  const passed = report?.numPassedTests ?? 0;
  const unloadable = (report?.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length;
  const leftOut = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  const notRun = filtered ? 0 : leftOut;
  const failed = (report?.numFailedTests ?? 0) + unloadable + notRun + failuresOutside(report, exitCode);
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed, notRun };
}

/** One for errors outside of tests, and one for a run that did not end. */
function failuresOutside(report, exitCode) {
  return [report?.unhandledErrors > 0, exitCode === EXIT_DID_NOT_END].filter(Boolean).length;
}

/**
 * The counts in the last line "N passed, N failed" of the checks' output. Without such a line the checks count as one,
 * passed or failed by the exit code.
 *
 * @returns {{passed: number, failed: number}}
 */
export function lastCountLine(output, exitCode) {
  const line = [...output.matchAll(/(\d+) passed, (\d+) failed/g)].at(-1);
  if (!line) return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const failed = Number(line[2]);
  return { passed: Number(line[1]), failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}
