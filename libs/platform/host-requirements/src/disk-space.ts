import { statfsSync } from 'node:fs';

/** More than the log, the broker and the database write until they notice that they must stop. */
const LEAST_BYTES = 32 * 1024 ** 2;
const LEAST_INODES = 64;
const LOW_ABOVE = 0.9;

/** `low`: more than 90 % of the space or the inodes are used. `full`: too little is left for another change. */
export type DiskState = 'ok' | 'low' | 'full';

/** What is left on a file system for users other than root. */
export interface DiskSpace {
  readonly state: DiskState;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Infinity on a file system without a fixed number of inodes. */
  readonly freeInodes: number;
  /** Of bytes or inodes, whichever is the greater; 0 to 1. */
  readonly usedShare: number;
}

/** Reads what is left on the file system of a folder. Throws when the folder does not exist. */
export function diskSpace(folder: string): DiskSpace {
  const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  // File systems without a fixed number of inodes report none.
  const freeInodes = files === 0 ? Infinity : ffree;
  const usedInodes = files === 0 ? 0 : 1 - ffree / files;
  const usedShare = Math.max(blocks === 0 ? 0 : 1 - bavail / blocks, usedInodes);
  const isFull = freeBytes < LEAST_BYTES || freeInodes < LEAST_INODES;
  const state = isFull ? 'full' : usedShare > LOW_ABOVE ? 'low' : 'ok';
  return { state, totalBytes: blocks * bsize, freeBytes, freeInodes, usedShare };
}

/** Whether the file system of a folder has room for a change. A folder that cannot be examined counts as having it. */
export function hasRoom(folder: string): boolean {
  try {
    return diskSpace(folder).state !== 'full';
  } catch {
    return true;
  }
}
