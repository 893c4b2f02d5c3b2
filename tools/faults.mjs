import { join } from 'node:path';
import { ensureReady, environmentWith, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run faults -- --seeds 5000 --from 1`: cuts every step of submissions, one fault for each seed, and compares what was
// answered with the guest's own journal. `--lanes 1 --seeds 1 --from N --verbose` tells the story of one seed.
await runTool(async () => {
  const node = await ensureReady();
  const program = join(ROOT, 'apps', 'standalone', 'dist', 'e2e', 'submission-faults', 'faults.main.js');
  return runChild(node, [program, ...process.argv.slice(2)], { env: environmentWith(node), graceMs: 20_000 });
});
