import { join } from 'node:path';
import { runInSandbox } from './containers/run-in-sandbox.mjs';
import { BUNDLED, ensureReady, environmentWith, log, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run faults -- --suite chat --seeds 5000 --from 1`: injects faults, chosen by each seed, into the steps of the
// suite's operation and compares the responses with the actual effects. The default suite submits commands. `--lanes 1
// --seeds 1 --from N --verbose` prints the steps of one seed.
const SUITES = {
  submission: ['standalone', 'dist', 'e2e', 'submission-faults', 'faults.main.js'],
  creation: ['agents', 'dist', 'fixtures', 'creation-faults', 'faults.main.js'],
  chat: ['delivery', 'dist', 'fixtures', 'chat-faults', 'faults.main.js'],
  containers: ['standalone', 'dist', 'e2e', 'container-faults', 'faults.main.js'],
};

const suiteOf = (args) => {
  const at = args.indexOf('--suite');
  if (at === -1) return { suite: 'submission', rest: args };
  return { suite: args[at + 1], rest: [...args.slice(0, at), ...args.slice(at + 2)] };
};

await runTool(async () => {
  const { suite, rest } = suiteOf(process.argv.slice(2));
  const program = SUITES[suite];
  if (program === undefined) throw new Error(`--suite is one of ${Object.keys(SUITES).join(', ')}.`);
  const node = await ensureReady();
  const command = [BUNDLED, join(ROOT, 'apps', ...program), ...rest];
  if (suite === 'containers') return inSandbox(node, command);
  return runChild(node, command, {
    env: environmentWith(node),
    graceMs: 20_000,
  });
});

async function inSandbox(node, command) {
  const { code, leftovers } = await runInSandbox(
    node,
    () => [node, ...command],
    () => undefined,
  );
  for (const leftover of leftovers) log(`left behind: ${leftover}`);
  return leftovers.length > 0 ? 1 : code;
}
