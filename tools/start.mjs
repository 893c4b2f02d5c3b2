import { ensureReady, environmentWith, programArguments, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm start`: sets the checkout up if needed and runs everything in one process on the right Node.
await runTool(async () => {
  const node = await ensureReady();
  return runChild(node, [...programArguments('standalone'), ...process.argv.slice(2)], {
    // The child exits when this channel closes, which happens however this process ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...environmentWith(node), BERTH_PARENT_WATCH: '1' },
    // The services read the operator's file again.
    hangUp: 'pass',
  });
});
