import { join } from 'node:path';
import { CI_LIMITS, runCi } from './ci-steps.mjs';
import { log, ROOT, runTool } from './ensure-installed.mjs';

// What `.ci/run` runs: `npm test`, and then `npm run test:containers` where this machine can. The last line is the sum of
// both, "N passed, N failed".
const tool = (...path) => [process.execPath, join(ROOT, 'tools', ...path)];

await runTool(async () => {
  const commands = {
    suite: tool('test.mjs'),
    prepare: tool('containers', 'assert-containers-run.mjs'),
    containers: tool('test-containers.mjs'),
  };
  const { passed, failed } = await runCi(commands, CI_LIMITS, (text) => void process.stdout.write(text));
  log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
});
