import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentWith } from '../ensure-installed.mjs';
import { reportIn } from '../test-counts.mjs';
import { broken, outcomeOf, patternOf } from './judge.mjs';

/** Ends a test that the break makes wait for ever. */
const LIMIT_MS = { fast: 300_000, e2e: 600_000 };
const TAIL = 2_000;

/** Runs the tests of these breaks without any break, and returns the breaks whose test ran and passed. */
export async function testOnce(node, copy, mutations) {
  const fair = new Set();
  for (const lane of Object.keys(LIMIT_MS)) {
    const group = mutations.filter((one) => (one.lane ?? 'fast') === lane);
    if (group.length === 0) continue;
    const { report } = await runTests(node, copy, group, group.length * LIMIT_MS[lane]);
    for (const one of group) if (outcomeOf(report, one) === 'passed') fair.add(one);
  }
  return fair;
}

/** Breaks one rule after the other in the copy, and yields what its test said. */
export async function* tryBreaks(node, copy, mutations) {
  for (const mutation of mutations) {
    const begun = performance.now();
    const path = join(copy, mutation.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, broken(source, mutation));
    const result = await tryOne(node, copy, mutation);
    writeFileSync(path, source);
    yield { mutation, ...result, seconds: Math.round((performance.now() - begun) / 1000) };
  }
  // The next break may be in a package that is built from this one.
  if (mutations.length > 0) await build(node, copy, mutations.slice(-1));
}

async function tryOne(node, copy, mutation) {
  const built = await build(node, copy, [mutation]);
  if (built.code !== 0) return { verdict: 'INVALID', reason: `the break does not compile: ${built.output}` };
  const { report, output } = await runTests(node, copy, [mutation], LIMIT_MS[mutation.lane ?? 'fast']);
  const outcome = outcomeOf(report, mutation);
  if (outcome === 'failed') return { verdict: 'caught' };
  if (outcome === 'passed') return { verdict: 'SURVIVED' };
  return { verdict: 'UNFAIR', reason: `no test of the title ran with the break: ${output}` };
}

/** Builds the packages of the breaks and of their tests, and what these are built from. */
function build(node, copy, mutations) {
  const projects = mutations
    .flatMap(({ file, test }) => [file, test])
    .map((path) => path.split('/src/')[0])
    .filter((folder) => existsSync(join(copy, folder, 'tsconfig.json')));
  if (projects.length === 0) return { code: 0, output: '' };
  const tsc = join(copy, 'node_modules', 'typescript', 'bin', 'tsc');
  return run(node, [tsc, '-b', '--pretty', 'false', ...new Set(projects)], copy, LIMIT_MS.fast);
}

/** Programs that the tests start are those that `tsc -b` has built: bundles would have to be made for each break. */
async function runTests(node, copy, mutations, limitMs) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-mutate-'));
  const report = reportIn(folder);
  const titles = [...new Set(mutations.map(({ title }) => patternOf(title)))];
  const chosen = [...new Set(mutations.map(({ test }) => test)), '-t', `(${titles.join('|')})`];
  try {
    const vitest = [join(copy, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...report.options];
    const { output } = await run(node, [...vitest, ...chosen], copy, limitMs);
    return { output, report: report.read() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a program to its end, and returns its exit code and the end of its output. */
async function run(node, args, cwd, limitMs) {
  const child = spawn(node, args, { cwd, env: environmentWith(node), stdio: ['ignore', 'pipe', 'pipe'] });
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const timers = [setTimeout(end, limitMs), setTimeout(() => child.kill('SIGKILL'), limitMs + 15_000)];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => (output = (output + chunk).slice(-TAIL)));
  }
  const [code] = await once(child, 'close');
  for (const timer of timers) clearTimeout(timer);
  process.off('exit', end);
  return { code, output };
}
