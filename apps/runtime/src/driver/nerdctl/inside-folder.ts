import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { INSIDE } from './paths-inside.js';

/** A folder or file inside, below Berth's own folder. */
export interface InsidePlace {
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * Fills `folder` with an empty place for each mount below Berth's own folder inside. No user of a container can change it,
 * because it belongs to root of the host.
 */
export const makeInsideFolder = async (folder: string, more: readonly InsidePlace[]): Promise<string> => {
  const { all, volume: _, tmp: __, ...own } = INSIDE;
  const places = [...Object.values(own).map((path) => ({ path, isFolder: true })), ...more];
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const { path, isFolder } of places) {
    const place = join(folder, relative(all, path));
    if (isFolder) await mkdir(place, { recursive: true, mode: 0o755 });
    else await writeFile(place, '', { mode: 0o444 });
  }
  return folder;
};
