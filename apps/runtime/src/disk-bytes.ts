import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that a folder takes on disk, without following links; stops counting at `limit`. What vanishes counts nothing. */
export const diskBytes = async (folder: string, limit: number): Promise<number> => {
  let total = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && total <= limit; next = folders.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else total += (await lstat(path).catch(() => undefined))?.size ?? 0;
      if (total > limit) break;
    }
  }
  return total;
};
