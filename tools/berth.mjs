import { join } from 'node:path';
import { ensureReady, environmentWith, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run berth -- keys list`: the command line tool, set up where needed, on the right Node.
await runTool(async () => {
  // What is said about setting up must not get into the output of the command.
  console.log = console.error;
  const node = await ensureReady();
  return runChild(node, [join(ROOT, 'apps', 'cli', 'dist', 'main.js'), ...process.argv.slice(2)], {
    env: environmentWith(node),
  });
});
