import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertContainersRun } from './containers/assert-containers-run.mjs';
import { runInSandbox } from './containers/run-in-sandbox.mjs';
import { BUNDLED, ensureReady, log, ROOT, runTool } from './ensure-installed.mjs';
import { countsOf } from './test-counts.mjs';

// `npm run test:containers`: runs the tests of the nerdctl driver (`*.container-spec.ts`) with a containerd of its own
// and ends with "N passed, N failed". Arguments go to vitest. Whatever the tests leave behind counts as a failure. Where
// they cannot run, it says so in one line and ends with `EXIT_UNSUITABLE_MACHINE`.
const given = process.argv.slice(2);

await runTool(async () => {
  const node = await ensureReady();
  await assertContainersRun(node);
  const { result, leftovers } = await runInSandbox(node, (folder) => tests(node, folder), countsIn);
  for (const leftover of leftovers) log(`left behind: ${leftover}`);
  const failed = result.failed + (leftovers.length > 0 ? 1 : 0);
  log(`\n${result.passed} passed, ${failed} failed`);
  return failed === 0 && result.passed > 0 ? 0 : 1;
});

function tests(node, folder) {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(ROOT, 'vitest.containers.config.ts');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportIn(folder)}`];
  return [node, BUNDLED, vitest, 'run', '--config', config, ...reporters, ...given];
}

function countsIn(folder, code) {
  const report = reportIn(folder);
  const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  return countsOf(result, code, given.length > 0);
}

function reportIn(folder) {
  return join(folder, 'report.json');
}
