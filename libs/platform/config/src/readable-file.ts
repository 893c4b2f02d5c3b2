import { readFileSync } from 'node:fs';

/** Whether there is a file at the path that this process may read. */
export const isReadable = (path: string): boolean => {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
};
