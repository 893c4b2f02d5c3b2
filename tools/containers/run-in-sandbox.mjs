import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBroker } from '../ensure-broker.mjs';
import { environmentWith, log, ROOT, SetupError } from '../ensure-installed.mjs';
import { runChild } from '../run-child.mjs';
import { buildImages } from './build-images.mjs';
import { ensureParts } from './ensure-parts.mjs';
import { inNamespaces } from './new-namespaces.mjs';
import { temporaryRun } from './temporary-run.mjs';

/**
 * Runs a command with a containerd of its own, in namespaces of its own for mounts, processes, network and control
 * groups, and with the images of `buildImages`. `commandIn` gets the temporary folder and returns the command line.
 * Throws `SetupError` if this machine lacks something.
 *
 * @param {string} node
 * @param {(folder: string) => string[]} commandIn
 * @param {(folder: string, code: number) => T} read reads results from the folder before it is deleted
 * @returns {Promise<{ code: number, result: T, leftovers: string[] }>} the leftovers are what the command left behind
 * @template T
 */
export async function runInSandbox(node, commandIn, read) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new SetupError('Containers need Linux and root: run this as root.');
  // The sandbox reaches no network.
  await ensureBroker(node);
  const { path, cniPath } = await ensureParts(log);
  const { folder, groups } = temporaryRun('berth-containers-');
  // Root of a user namespace must be able to enter it.
  chmodSync(folder, 0o711);
  const images = await buildImages(log);
  const env = { ...environmentWith(node), CNI_PATH: cniPath, BERTH_TEST_IMAGES: images };
  env.PATH = `${env.PATH.split(':')[0]}:${path}`;
  const sandbox = join(ROOT, 'tools', 'containers', 'sandbox.mjs');
  const [program, ...args] = inNamespaces(groups, [node, sandbox, folder, ...commandIn(folder)]);
  const code = await runChild(program, args, { cwd: ROOT, env, graceMs: 15_000 });
  return { code, result: read(folder, code), leftovers: readLeftovers(folder) };
}

function readLeftovers(folder) {
  const file = join(folder, 'leftovers.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : ['unknown: the run was ended early'];
}
