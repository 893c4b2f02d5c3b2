import { ensureReady, environmentWith, programArguments, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run berth -- keys list`: sets the checkout up if needed and runs the command line tool on the right Node.
await runTool(async () => {
  // Setup messages must not appear in the output of the command.
  console.log = console.error;
  const node = await ensureReady();
  return runChild(node, [...programArguments('cli'), ...process.argv.slice(2)], {
    env: environmentWith(node),
  });
});
