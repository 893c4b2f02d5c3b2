import { join } from 'node:path';
import { assertContainersRun } from './containers/assert-containers-run.mjs';
import { runInSandbox } from './containers/run-in-sandbox.mjs';
import { BUNDLED, ensureReady, log, ROOT, runTool } from './ensure-installed.mjs';
import { logOutcome, runWithRepetition } from './repeated-tests.mjs';
import { reportIn } from './test-counts.mjs';

// `npm run test:containers`: runs the tests of the nerdctl driver (`*.container-spec.ts`) with a containerd of its own
// and ends with "N passed, N failed". Arguments go to vitest; `--project=core` runs those that CI runs. Whatever the tests
// leave behind counts as a failure. Where they cannot run, it says so in one line and ends with `EXIT_UNSUITABLE_MACHINE`.
const given = process.argv.slice(2);
const leftBehind = [];

await runTool(async () => {
  const node = await ensureReady();
  await assertContainersRun(node);
  const tests = await runWithRepetition(given, (chosen) => runTests(node, chosen));
  for (const leftover of leftBehind) log(`left behind: ${leftover}`);
  logOutcome(tests);
  const failed = tests.failed + (leftBehind.length > 0 ? 1 : 0);
  log(`\n${tests.passed} passed, ${failed} failed`);
  return failed === 0 && tests.passed > 0 ? 0 : 1;
});

async function runTests(node, chosen) {
  const { result, leftovers } = await runInSandbox(
    node,
    (folder) => commandOf(node, folder, chosen),
    (folder, code) => ({ report: reportIn(folder).read(), code }),
  );
  leftBehind.push(...leftovers);
  return result;
}

function commandOf(node, folder, chosen) {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(ROOT, 'vitest.containers.config.ts');
  return [node, BUNDLED, vitest, 'run', '--config', config, ...reportIn(folder).options, ...chosen];
}
