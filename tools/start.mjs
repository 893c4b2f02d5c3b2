import { join } from 'node:path';
import { ensureReady, environmentWith, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm start`: sets the checkout up where needed, then runs everything in one process of the right Node.
await runTool(async () => {
  const node = await ensureReady();
  return runChild(node, [join(ROOT, 'apps', 'standalone', 'dist', 'main.js'), ...process.argv.slice(2)], {
    // The channel closes when this process is gone, however it went: the child takes that as its end.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...environmentWith(node), BERTH_PARENT_WATCH: '1' },
  });
});
