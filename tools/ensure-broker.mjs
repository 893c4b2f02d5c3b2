import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, SetupError } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

/**
 * Installs a nats-server if there is none, with the library that `npm start` uses. Throws `SetupError` if that fails.
 * A run without access to a network calls it before it gives that access up.
 *
 * @param {string} node
 * @returns {Promise<void>}
 */
export async function ensureBroker(node) {
  const library = pathToFileURL(join(ROOT, 'libs', 'embedded', 'dist', 'index.js')).href;
  const script = `
    import { ensureNatsServer } from ${JSON.stringify(library)};
    const log = (context, message) => console.log(message);
    await ensureNatsServer({ info: log, warn: log, error: log }).catch((error) => {
      console.error(error.message);
      process.exitCode = 1;
    });`;
  const code = await runChild(node, ['--input-type=module', '-e', script], { cwd: ROOT });
  if (code !== 0) throw new SetupError('This run needs a nats-server; see the message above.');
}
