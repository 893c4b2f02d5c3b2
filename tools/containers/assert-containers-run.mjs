import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureReady, ROOT, runTool, UnsuitableMachineError } from '../ensure-installed.mjs';
import { runInSandbox } from './run-in-sandbox.mjs';

// Run as a program, it makes everything for the tests of the nerdctl driver that takes long the first time.

/**
 * Builds and installs what the tests of the nerdctl driver need, and starts a container as a trial. Throws
 * `UnsuitableMachineError` with one line that says what this machine lacks.
 *
 * @param {string} node
 * @returns {Promise<void>}
 */
export async function assertContainersRun(node) {
  const reason = await reasonAgainst(node);
  if (reason === undefined) return;
  throw new UnsuitableMachineError(`The container tests were not run: ${reason.split('\n').join('; ')}.`);
}

async function reasonAgainst(node) {
  try {
    const trial = join(ROOT, 'tools', 'containers', 'trial.mjs');
    const { code, result } = await runInSandbox(
      node,
      (folder) => [node, trial, reasonIn(folder)],
      readReason,
    );
    if (code === 0) return undefined;
    return (
      result ??
      'this machine does not allow namespaces, mounts and control groups, as a privileged container does'
    );
  } catch (error) {
    return error.message;
  }
}

function reasonIn(folder) {
  return join(folder, 'reason.txt');
}

function readReason(folder) {
  const file = reasonIn(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

if (process.argv[1] === import.meta.filename)
  await runTool(async () => {
    await assertContainersRun(await ensureReady());
    return 0;
  });
