import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLED, ensureReady, environmentWith, ROOT, runTool, log } from './ensure-installed.mjs';
import { ensureBroker } from './ensure-broker.mjs';
import { ensurePrograms } from './ensure-programs.mjs';
import { runChild } from './run-child.mjs';
import { logOutcome, runWithRepetition } from './repeated-tests.mjs';
import { printCosts, startMeasuring } from './suite-costs/measure.mjs';
import {
  budgetLine,
  dearFiles,
  readTable,
  tooDear,
  unfitForTable,
  writeTable,
} from './suite-costs/table.mjs';
import { lastCountLine, reportIn } from './test-counts.mjs';

// `npm test`: sets the checkout up if needed, runs the checks and every test, and ends with "N passed, N failed".
// With arguments it passes them to vitest and skips the checks: `npm test -- libs/kernel`. With `--costs`, a whole run
// writes what each file cost to the table in `tools/suite-costs`. `--long` runs the long lane (`*.long-spec.ts`) instead,
// with `--shard 3/8` a part of it, which may be empty.
const OWN = ['--costs', '--long'];
const given = joinShard(process.argv.slice(2));
const isWholeRun = given.every((argument) => argument === '--costs');
const writesTable = isWholeRun && given.includes('--costs');
const isShard = given.some((argument) => argument.startsWith('--shard='));
const vitestArguments = [...laneOf(given), ...given.filter((argument) => !OWN.includes(argument))];

await runTool(async () => {
  const measured = startMeasuring(writesTable);
  // Downloads while the checkout is built: the one waits for package mirrors, the other for the processors.
  const programs = ensurePrograms(log);
  const node = await ensureReady();
  // A fresh clone installs and builds, which is no cost of the tests.
  measured.endSetUp();
  // The checks end before the tests begin: on a slow machine they would delay tests beyond their deadlines.
  const [checks] = await Promise.all([
    isWholeRun ? runChecks(node) : { passed: 0, failed: 0 },
    programs.then(() => ensureBroker(node)),
  ]);
  const tests = await runWithRepetition(vitestArguments, (chosen) => runVitest(node, chosen, measured.env));
  const costs = measured.stop();
  printCosts(costs);
  const problems = judgeCosts(costs, checks.failed + tests.failed);
  for (const problem of problems) log(problem);
  const [passed, failed] = [checks.passed + tests.passed, checks.failed + tests.failed + problems.length];
  logOutcome(tests);
  log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && (tests.passed > 0 || isShard) ? 0 : 1;
});

/** What is wrong with the costs of a whole run; writes the table first if that was asked for. */
function judgeCosts(costs, failed) {
  if (!isWholeRun) return [];
  const unfit = writesTable ? unfitForTable(costs, failed) : undefined;
  if (writesTable && unfit === undefined) writeTable(costs);
  const problems = unfit === undefined ? [] : [unfit];
  if (costs.files === undefined) return problems;
  const seconds = costs.seconds - costs.setUp;
  log(budgetLine(seconds));
  const before = readTable().files;
  for (const line of dearFiles(before, costs.files)) log(line);
  return [...problems, ...tooDear(before, seconds, costs.files)];
}

/** `--shard 3/8` as one argument. */
function joinShard(args) {
  const at = args.indexOf('--shard');
  return at < 0 ? args : [...args.slice(0, at), `--shard=${args[at + 1]}`, ...args.slice(at + 2)];
}

/** Vitest's arguments that select the lane, unless the caller selects projects. */
function laneOf(args) {
  if (args.some((argument) => argument.startsWith('--project'))) return [];
  return [args.includes('--long') ? '--project=long' : '--project=!long'];
}

/** Prints the output when the checks have ended, because the set-up prints at the same time. */
async function runChecks(node) {
  const script = join(ROOT, 'tools', 'checks', 'run.mjs');
  if (!existsSync(script)) return { passed: 0, failed: 0 };
  const child = spawn(node, [script], {
    cwd: ROOT,
    env: environmentWith(node),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  process.stdout.write(output);
  return lastCountLine(output, code);
}

async function runVitest(node, chosen, env) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-test-'));
  const report = reportIn(folder);
  try {
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const options = [...report.options, ...(isShard ? ['--passWithNoTests'] : [])];
    const code = await runChild(node, [BUNDLED, vitest, 'run', ...options, ...chosen], {
      cwd: ROOT,
      env: { ...environmentWith(node), ...env },
      graceMs: 15_000,
    });
    return { code, report: report.read() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
