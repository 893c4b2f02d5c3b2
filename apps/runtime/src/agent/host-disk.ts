import { statfs } from 'node:fs/promises';
import { hostFull } from './agent-refusals.js';

/** More than a start writes before the agent's own program runs. */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;

/**
 * Refuses a start that the disk has no room for: one that runs out of space half-way cannot even record that it failed.
 * Errors: unavailable `host_full`.
 */
export const assertDiskHasRoom = async (dataDir: string): Promise<void> => {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize < LEAST_FREE_BYTES) throw hostFull();
};
