import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { log, ROOT } from '../ensure-installed.mjs';
import { enterRunGroup, secondsOf } from './group.mjs';
import { samplePrograms } from './program-costs.mjs';

const SHOWN = 10;

/**
 * @typedef {object} Costs Processor seconds, of user and system.
 * @property {number} minutes
 * @property {number} processors
 * @property {number} seconds of all processes
 * @property {number} setUp of these, the seconds before `endSetUp`
 * @property {Record<string, number>} [programs]
 * @property {Record<string, number>} files with the processes that they start, without servers that files share
 */

/**
 * Measures this process and all that it starts from now on; `withPrograms`, also the programs. Where control groups are
 * out of reach, it knows only the minutes.
 *
 * @param {boolean} withPrograms
 * @returns {{ env: Record<string, string>, endSetUp: () => void, stop: () => Partial<Costs> & { minutes: number } }} with
 *   the environment that vitest needs
 */
export function startMeasuring(withPrograms) {
  const begun = Date.now();
  const minutes = () => round((Date.now() - begun) / 60_000);
  const group = enterRunGroup();
  if (group === undefined)
    return { env: {}, endSetUp: () => undefined, stop: () => ({ minutes: minutes() }) };
  const folder = mkdtempSync(join(tmpdir(), 'berth-costs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const output = join(folder, 'files.jsonl');
  const sampled = withPrograms ? samplePrograms(group) : undefined;
  let setUp = 0;
  return {
    env: { BERTH_TEST_GROUP: group, BERTH_TEST_COSTS: output },
    endSetUp: () => {
      setUp = round(secondsOf(group));
    },
    stop: () => ({
      minutes: minutes(),
      processors: availableParallelism(),
      seconds: round(secondsOf(group)),
      setUp,
      ...(sampled && { programs: sorted(sampled.stop()) }),
      files: sorted(readFiles(output)),
    }),
  };
}

/** Prints the minutes, the processor seconds, and the files that cost most. */
export function printCosts({ minutes, seconds, files }) {
  if (seconds === undefined) return log(`\nThe run took ${minutes} minutes.`);
  log(
    `\nThe run took ${minutes} minutes and ${Math.round(seconds)} processor seconds. The files that cost most:`,
  );
  for (const [file, cost] of Object.entries(files).slice(0, SHOWN))
    log(`${String(cost).padStart(8)} s  ${file}`);
}

/** Of a file that ran again, the first run counts. */
function readFiles(output) {
  const files = {};
  const lines = existsSync(output) ? readFileSync(output, 'utf8').trim().split('\n') : [];
  for (const line of lines.filter(Boolean)) {
    const { file, seconds } = JSON.parse(line);
    const path = relative(ROOT, file);
    files[path] ??= seconds;
  }
  return files;
}

const sorted = (costs) =>
  Object.fromEntries(
    Object.entries(costs)
      .map(([name, seconds]) => [name, round(seconds)])
      .sort(([, one], [, other]) => other - one),
  );

const round = (value) => Math.round(value * 10) / 10;
