import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { exitCodeOf } from '../run-child.mjs';
import { createGroups, removeGroups } from './new-namespaces.mjs';

/** Deletions are repeated while the kernel still ends the processes and mounts of the run. */
const REPEATED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/**
 * Makes a temporary folder and the control groups of a test run. Both are removed when this process exits, also by
 * SIGTERM, SIGINT or SIGHUP.
 *
 * @param {string} prefix of the folder's name
 * @returns {{ folder: string, groups: string[] }}
 */
export function temporaryRun(prefix) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  let groups = [];
  process.once('exit', () => {
    try {
      removeGroups(groups);
    } finally {
      rmSync(folder, REPEATED);
    }
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(signal, () => {
      // While a command runs, `runChild` listens too and ends the command first.
      if (process.listenerCount(signal) === 1) process.exit(exitCodeOf(null, signal));
    });
  groups = createGroups(basename(folder));
  return { folder, groups };
}
