import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeLock } from '../complete-lock.mjs';

/** Checks that the lock file has the binaries of every platform: `npm ci` rejects an incomplete one everywhere. */
export const checkLock = ({ root }) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const read = Object.keys(lock.packages).length;
  const problems = completeLock(lock).map(
    (path) => `package-lock.json lacks ${path}: run node tools/complete-lock.mjs`,
  );
  return { problems, read };
};
