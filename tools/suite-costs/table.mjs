import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../ensure-installed.mjs';

const TABLE = join(ROOT, 'tools', 'suite-costs', 'table.json');

/** Of `npm test`, in processor seconds on two processors, and by how much a busy machine exceeds it. */
const BUDGET = { seconds: 1_300, factor: 1.15 };
/** Growth that is told: by this factor, and by as many seconds, which chance explains. */
const MOST = { factor: 1.3, seconds: 6 };
/** What a file may cost that the table does not have. */
const MOST_OF_NEW_SECONDS = 10;
/** A machine cannot be faster or slower than this: then the suite has changed. */
const SPEEDS = { least: 0.8, most: 3 };
/** Files that cost less say nothing about the speed of the machine. */
const TELLING_SECONDS = 3;

/** Writes what a whole run cost. */
export function writeTable(costs) {
  writeFileSync(TABLE, `${JSON.stringify(costs, null, 2)}\n`);
}

/**
 * Why the costs of a run are no table, if they are none.
 *
 * @returns {string | undefined}
 */
export function unfitForTable(costs, failed) {
  if (costs.files === undefined)
    return 'The table was not written: without control groups, which need root on Linux, nobody knows what each file cost.';
  return failed > 0 ? 'The table was not written, because the run failed.' : undefined;
}

/** What the run that the table was written from cost. */
export function readTable() {
  return JSON.parse(readFileSync(TABLE, 'utf8'));
}

/** The line that compares a whole run with its budget. */
export const budgetLine = (seconds) =>
  `The run cost ${Math.round(seconds)} processor seconds, without the set-up; the budget is ${BUDGET.seconds}, and ` +
  `above ${mostSeconds()} it fails.`;

const mostSeconds = () => Math.round(BUDGET.seconds * BUDGET.factor);

/**
 * What fails a whole run: that it is above the budget by more than the speed of the machine explains.
 *
 * @param {Record<string, number>} before seconds by file, from the table
 * @param {number} seconds of the run without its set-up
 * @param {Record<string, number>} files
 * @returns {string[]} one problem, or none
 */
export function tooDear(before, seconds, files) {
  // A machine that is slower for every file is for all of them together.
  return seconds > mostSeconds() * Math.max(speedOf(before, files), 1) ? [budgetLine(seconds)] : [];
}

/**
 * The files that differ from the table: those that grew, and dear ones that it does not have. They fail nothing, because a
 * busy machine makes single files dearer: one that polls costs more the longer it waits.
 *
 * @param {Record<string, number>} before seconds by file, from the table
 * @param {Record<string, number>} files
 * @returns {string[]} a line for each
 */
export const dearFiles = (before, files) => [...grownFiles(before, files), ...newFiles(before, files)];

function newFiles(before, now) {
  return Object.entries(now)
    .filter(
      ([file, seconds]) =>
        before[file] === undefined && seconds > MOST_OF_NEW_SECONDS * Math.max(speedOf(before, now), 1),
    )
    .map(
      ([file, seconds]) =>
        `${file} cost ${Math.round(seconds)} processor seconds and is not in the table: make it cheaper, or write the table anew with "npm test -- --costs"`,
    );
}

/**
 * The files that cost much more than they did when the table was written. This machine may be slower or busier than the
 * one of the table: it is by as much as the median file costs more, within bounds.
 *
 * @param {Record<string, number>} before seconds by file, from the table
 * @param {Record<string, number>} now
 * @returns {string[]} a line for each
 */
function grownFiles(before, now) {
  const speed = speedOf(before, now);
  return Object.entries(before)
    .map(([file, seconds]) => ({ file, expected: seconds * speed, seconds: now[file] ?? 0 }))
    .filter(({ expected, seconds }) => seconds > expected * MOST.factor + MOST.seconds)
    .map(
      ({ file, expected, seconds }) =>
        `${file} cost ${Math.round(seconds)} processor seconds instead of ${Math.round(expected)}: make it cheaper, or write the table anew with "npm test -- --costs"`,
    );
}

/** How much slower this machine is than the one of the table. */
function speedOf(before, now) {
  const typical = median(
    Object.entries(before)
      .filter(([file, seconds]) => seconds >= TELLING_SECONDS && now[file] > 0)
      .map(([file, seconds]) => now[file] / seconds),
  );
  return Math.min(Math.max(typical, SPEEDS.least), SPEEDS.most);
}

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 1;
