import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentWith, programArguments, SetupError } from './ensure-installed.mjs';

/**
 * Starts a Berth on a free port and an empty data folder, which `stop` removes. It ends with this process.
 *
 * @param {string} node from `ensureReady`
 * @returns {Promise<{url: string, key: string, stop: () => Promise<void>}>} when it serves; with the bootstrap key
 */
export async function startOwnBerth(node) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-own-'));
  const child = spawn(node, programArguments('standalone'), {
    env: { ...environmentWith(node), PORT: '0', BERTH_DATA: dataDir, BERTH_PARENT_WATCH: '1' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  };
  const url = await Promise.race([readyUrl(child), exited.then(() => undefined)]);
  if (url === undefined) throw new SetupError('Berth exited before it was ready; see its message above.');
  return { url, key: readFileSync(join(dataDir, 'bootstrap-key'), 'utf8').trim(), stop };
}

function readyUrl(child) {
  return new Promise((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const match = /Berth is ready at (\S+)/.exec(output);
      if (match) resolve(match[1]);
    });
  });
}
