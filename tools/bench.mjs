import { join } from 'node:path';
import { BUNDLED, ensureReady, environmentWith, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run bench`: measures Berth and compares it with the limits of this machine.
await runTool(async () => {
  const node = await ensureReady();
  return runChild(node, [BUNDLED, join(ROOT, 'apps', 'bench', 'dist', 'main.js'), ...process.argv.slice(2)], {
    env: environmentWith(node),
    graceMs: 20_000,
  });
});
