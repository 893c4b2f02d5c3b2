import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FOLDER_VARIABLE } from './lease.js';
import { LeaseServer } from './lease-server.js';
import { createRunFolder } from './run-folder.js';

/**
 * Vitest's global setup: lets the files of a run share servers, and moves their temporary files to
 * memory. Starts no server itself. Returns the teardown.
 */
export const setup = async (): Promise<() => Promise<void>> => {
  const folder = createRunFolder();
  const shared = join(folder, 'shared');
  mkdirSync(shared, { mode: 0o700 });
  const leases = await LeaseServer.start(shared);
  process.env[RUN_FOLDER_VARIABLE] = shared;
  process.env['TMPDIR'] = folder;
  return async () => {
    try {
      await leases.stop();
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };
};
