import { relative } from 'node:path';
import { log, ROOT } from './ensure-installed.mjs';
import { countsOf } from './test-counts.mjs';

/** More failures than this have one cause, and no chance in it. */
const MOST_REPEATED = 20;

/** An argument that selects a lane or its shard, which runs as a whole. */
const LANE = /^--(project|shard)=/;

/** Draws fresh seeds in each run, so that a test that passes the second time has not tried what it failed with. */
const LONG = '--project=long';

/**
 * Runs tests with vitest's arguments, none for all of them. In the run of a whole lane but the long one, a small number of
 * failed tests runs a second time, without the others; see `repeatable`. `run` returns vitest's report and exit code.
 *
 * @param {string[]} chosen
 * @param {(chosen: string[]) => Promise<{ report: object | undefined, code: number }>} run
 * @returns {Promise<{ passed: number, failed: number, notRun: number, unstable: string[], broken: string[] }>}
 */
export async function runWithRepetition(chosen, run) {
  const isWholeRun = chosen.every((argument) => LANE.test(argument));
  const { report, code } = await run(chosen);
  const counts = countsOf(report, code, !isWholeRun);
  const repeats = isWholeRun && !chosen.includes(LONG);
  const repeated = repeats ? repeatable(report, counts.failed) : undefined;
  if (repeated === undefined) return { ...counts, unstable: [], broken: failedTests(report).map(titleOf) };
  log(`\n${repeated.tests.length} of the tests failed. They run again, without the others.`);
  const projects = chosen.filter((argument) => argument.startsWith('--project='));
  return withRepeated(counts, repeated.tests, await run([...projects, ...repeated.arguments]));
}

/** Says what the last line "N passed, N failed" does not. */
export function logOutcome({ notRun, unstable, broken }) {
  if (broken.length > 0) log(`These tests failed:\n  ${broken.slice(0, MOST_REPEATED).join('\n  ')}`);
  if (notRun > 0) log(`${notRun} tests did not run, which counts as failed.`);
  if (unstable.length > 0)
    log(`These tests passed only when they ran again, which is a defect:\n  ${unstable.join('\n  ')}`);
}

/**
 * The failed tests of a run if it makes sense to run them again: at least one, at most twenty, and nothing else failed. A
 * test of the whole stack shares two processors with others, and a failure may be due to that alone. A test that did not
 * run because the set-up of its file failed is one of them.
 *
 * @returns {{ tests: { file: string, name: string, ran: boolean }[], arguments: string[] } | undefined} with vitest's
 *   arguments for exactly these
 */
export function repeatable(report, failures) {
  const tests = failedTests(report);
  if (tests.length === 0 || tests.length > MOST_REPEATED || tests.length !== failures) return undefined;
  const files = new Set(tests.map(({ file }) => file));
  const names = tests.map(({ name }) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // One file at a time: those that need the most time would only make each other late again.
  const args = [...files, '--no-file-parallelism', '--testNamePattern', `^(${names.join('|')})$`];
  return { tests, arguments: args };
}

const failedTests = (report) =>
  (report?.testResults ?? []).flatMap(({ name: file, status: ofFile, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed' || (ofFile === 'failed' && status === 'skipped'))
      .map((test) => ({ file: relative(ROOT, file), name: nameOf(test), ran: test.status === 'failed' })),
  );

/**
 * The counts of a run whose failed tests ran again: those that passed then are passed, and named as unstable. If all of them
 * passed in a run that failed all the same, for example because of an error outside of them, that counts as one failure.
 *
 * @returns {{ passed: number, failed: number, notRun: number, unstable: string[], broken: string[] }}
 */
export function withRepeated(counts, tests, { report, code }) {
  const passed = new Set(
    (report?.testResults ?? []).flatMap(({ name: file, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed')
        .map((test) => titleOf({ file: relative(ROOT, file), name: nameOf(test) })),
    ),
  );
  const unstable = tests.filter((test) => passed.has(titleOf(test)));
  const failedAllTheSame = code !== 0 && unstable.length === tests.length ? 1 : 0;
  return {
    passed: counts.passed + unstable.length,
    failed: counts.failed - unstable.length + failedAllTheSame,
    notRun: counts.notRun - unstable.filter(({ ran }) => !ran).length,
    unstable: unstable.map(titleOf),
    broken: tests.filter((test) => !unstable.includes(test)).map(titleOf),
  };
}

/** As vitest's `--testNamePattern` sees it. */
const nameOf = ({ ancestorTitles, title }) =>
  [...ancestorTitles, title].filter((part) => part !== '').join(' > ');

const titleOf = ({ file, name }) => `${file} > ${name}`;
