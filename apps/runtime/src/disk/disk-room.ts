import { diskSpace } from '@berth/host-requirements';
import { hostFull } from '../agent/agent-refusals.js';

const SHARE = 0.02;
/** More than a start writes before the agent's own program runs. */
const LEAST_BYTES = 64 * 1024 ** 2;
const MOST_BYTES = 512 * 1024 ** 2;

/** What agents must leave on a disk of that size: 2 %, but 64 to 512 MB, and never more than an eighth. */
export const reserveBytes = (totalBytes: number): number =>
  Math.min(Math.max(totalBytes * SHARE, LEAST_BYTES), MOST_BYTES, totalBytes / 8);

/**
 * Refuses a start that the disk has no room for: one that runs out of space half-way cannot even record that it failed.
 * Errors: unavailable `host_full`.
 */
export const assertDiskHasRoom = (dataDir: string): void => {
  const { freeBytes, totalBytes, state } = diskSpace(dataDir);
  if (state === 'full' || freeBytes < reserveBytes(totalBytes)) throw hostFull();
};
