import { rm } from 'node:fs/promises';
import { RUN_FOLDER_VARIABLE } from './lease.js';
import { LeaseServer } from './lease-server.js';
import { createRunFolder } from './run-folder.js';

/** Vitest's global setup: lets the files of a run share servers. Starts none by itself. Returns the teardown. */
export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await createRunFolder();
  const leases = await LeaseServer.start(folder);
  process.env[RUN_FOLDER_VARIABLE] = folder;
  return async () => {
    try {
      await leases.stop();
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };
};
