import { join } from 'node:path';
import { runInSandbox } from './containers/run-in-sandbox.mjs';
import { BUNDLED, ensureReady, environmentWith, log, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run bench`: measures Berth and compares it with the limits of this machine. With `--containers` it measures
// agents in containers instead, as root, with a containerd of its own.
const given = process.argv.slice(2);

await runTool(async () => {
  const node = await ensureReady();
  const bench = [BUNDLED, join(ROOT, 'apps', 'bench', 'dist', 'main.js'), ...given];
  if (!given.includes('--containers'))
    return runChild(node, bench, { env: environmentWith(node), graceMs: 20_000 });
  const { code, leftovers } = await runInSandbox(
    node,
    () => [node, ...bench],
    () => undefined,
  );
  for (const leftover of leftovers) log(`left behind: ${leftover}`);
  return code;
});
