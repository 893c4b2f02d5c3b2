import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../programs/child-environment.js';

/** Where to look: the PATH, and the folders where Debian installs runc and dockerd, which a PATH may omit. */
export const usualFolders = (env: Environment): readonly string[] => [
  ...(env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''),
  '/usr/local/sbin',
  '/usr/sbin',
];

export const findExecutable = (name: string, folders: readonly string[]): string | undefined =>
  folders.map((folder) => join(folder, name)).find(isExecutable);

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
