import { readdir } from 'node:fs/promises';

/** Ids of all processes on the host. */
export const listPids = async (): Promise<readonly number[]> =>
  (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
