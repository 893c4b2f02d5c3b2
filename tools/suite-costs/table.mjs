import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../ensure-installed.mjs';

const TABLE = join(ROOT, 'tools', 'suite-costs', 'table.json');

/** Growth that fails: by this factor, and by as many seconds, which chance explains. */
const MOST = { factor: 1.3, seconds: 6 };
/** Files that cost less say nothing about the speed of the machine. */
const TELLING_SECONDS = 3;

/** Writes what a whole run cost. */
export function writeTable(costs) {
  writeFileSync(TABLE, `${JSON.stringify(costs, null, 2)}\n`);
}

/** What the run that the table was written from cost. */
export function readTable() {
  return JSON.parse(readFileSync(TABLE, 'utf8'));
}

/**
 * The files that cost much more than they did when the table was written. This machine may be slower or busier than the
 * one of the table: it is by as much as the median file costs more.
 *
 * @param {Record<string, number>} before seconds by file, from the table
 * @param {Record<string, number>} now
 * @returns {string[]} one problem for each
 */
export function grownFiles(before, now) {
  const speed = median(
    Object.entries(before)
      .filter(([file, seconds]) => seconds >= TELLING_SECONDS && now[file] > 0)
      .map(([file, seconds]) => now[file] / seconds),
  );
  return Object.entries(before)
    .map(([file, seconds]) => ({ file, expected: seconds * speed, seconds: now[file] ?? 0 }))
    .filter(({ expected, seconds }) => seconds > expected * MOST.factor + MOST.seconds)
    .map(
      ({ file, expected, seconds }) =>
        `${file} cost ${Math.round(seconds)} processor seconds instead of ${Math.round(expected)}: make it cheaper, or write the table anew with "npm test -- --costs"`,
    );
}

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 1;
