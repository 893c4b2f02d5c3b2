import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders of the system's programs, which the PATH of a user may lack. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** The path of a program in the folders of `path` or in those of the system. */
export const findProgram = (name: string, path: string): string | undefined =>
  [...path.split(delimiter).filter((folder) => folder !== ''), ...SYSTEM_FOLDERS]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
