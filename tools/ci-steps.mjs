import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_UNSUITABLE_MACHINE, ROOT } from './ensure-installed.mjs';
import { lastCountLine } from './test-counts.mjs';

const MINUTE = 60_000;
/** Of a run in CI. `all`: its end is as far from CI's own limit of 90 minutes as the longest step may be late. */
export const CI_LIMITS = {
  all: 80 * MINUTE,
  prepare: 20 * MINUTE,
  step: 30 * MINUTE,
  mutations: 20 * MINUTE,
};
/** Between TERM and KILL for a step that takes too long. */
const GRACE_MS = 30_000;
const TAIL = 10_000;
const SHOWN_AGAIN = 2_000;
const DRAINED_WITHIN_MS = 5_000;

/**
 * Runs the tests of CI: the command `suite`, then `containers` if `prepare` finds that this machine can run it, then `python`,
 * `long` and `mutations`. Each ends with a line "N passed, N failed" or counts as one. A step starts only while its whole limit is
 * left. What the machine lacks, and what the time of CI does not allow, are no failures; a test is.
 *
 * @param {Record<'suite' | 'prepare' | 'containers' | 'python' | 'long' | 'mutations', string[]>} commands
 * @param {typeof CI_LIMITS} limits in milliseconds
 * @param {(text: string) => void} print
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runCi(commands, limits, print) {
  const begun = Date.now();
  const left = (most) => Math.min(most, begun + limits.all - Date.now());
  const counts = [await counted(commands.suite, left(limits.all), print)];
  const reason = await reasonNotToRun(commands.prepare, left(limits.prepare), print);
  if (reason !== undefined) print(`${reason}\n`);
  for (const name of [...(reason === undefined ? ['containers'] : []), 'python', 'long', 'mutations']) {
    const most = limits[name] ?? limits.step;
    if (left(most) < most) print(`The ${NAMES[name]} were not run: too little of the time of CI is left.\n`);
    else counts.push(await counted(commands[name], most, print));
  }
  // Whoever reads only the end of the output learns what failed.
  for (const { failed, tail } of counts)
    if (failed > 0) print(`\nOf the above, this failed:\n${tail.slice(-SHOWN_AGAIN)}`);
  const sum = (kind) => counts.reduce((total, count) => total + count[kind], 0);
  return { passed: sum('passed'), failed: sum('failed') };
}

const NAMES = {
  containers: 'container tests',
  python: 'tests of the Python client',
  long: 'long tests',
  mutations: 'mutations',
};

/**
 * One of `count` shards, as vitest takes it. The id of the commit chooses, so that each shard is as likely in each landing,
 * however many commits that adds, and another run of a commit has the same.
 *
 * @param {(...args: string[]) => string | undefined} git
 * @param {number} count
 */
export function shardOf(git, count) {
  const id = Number.parseInt(git('rev-parse', 'HEAD')?.slice(0, 8) || '0', 16);
  return `${(id % count) + 1}/${count}`;
}

/** Returns a line; an empty one if the command has printed it. */
async function reasonNotToRun(command, withinMs, print) {
  const { code, timedOut } = await runStep(command, withinMs, print);
  if (timedOut)
    return (
      'The container tests were not run: what they need could not be built or installed in time; unpack the nerdctl-full ' +
      'archive into /usr/local.'
    );
  if (code === EXIT_UNSUITABLE_MACHINE) return '';
  return code === 0 ? undefined : 'The container tests were not run: their preparation failed; see above.';
}

async function counted(command, withinMs, print) {
  const { code, timedOut, tail } = await runStep(command, withinMs, print);
  if (timedOut) print('The tests took too long and were ended, which counts as one failure.\n');
  return { ...lastCountLine(tail, timedOut ? 1 : code), tail };
}

/** Runs a command, and prints its output as it comes. */
async function runStep([program, ...args], withinMs, print) {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    tail = (tail + chunk).slice(-TAIL);
    print(chunk);
  });
  let timedOut = false;
  const timers = [
    setTimeout(() => {
      timedOut = true;
      child.kill('SIGTERM');
    }, withinMs),
    setTimeout(() => child.kill('SIGKILL'), withinMs + GRACE_MS),
  ];
  const end = (signal) => child.kill(signal);
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, end);
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  // A process that outlives the command may have its output open.
  await Promise.race([closed, delay(DRAINED_WITHIN_MS)]);
  for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, end);
  for (const timer of timers) clearTimeout(timer);
  return { code: code ?? 1, timedOut, tail };
}
