import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders of system programs, which may be missing from a user's `PATH`. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** The file of the program, searched in the folders of `path` (a value of `PATH`) and then in those of the system. */
export const findProgram = (name: string, path: string): string | undefined =>
  [...path.split(delimiter).filter((folder) => folder !== ''), ...SYSTEM_FOLDERS]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
