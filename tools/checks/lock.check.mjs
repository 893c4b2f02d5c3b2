import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeLock } from '../complete-lock.mjs';

const DECLARED = ['dependencies', 'devDependencies', 'optionalDependencies'];

/**
 * Checks that `npm ci` accepts the lock file: it has the binaries of every platform, and every package of the workspace
 * with the dependencies that it declares.
 */
export const checkLock = ({ root, packages }) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const read = Object.keys(lock.packages).length;
  const lacks = completeLock(lock).map(
    (path) => `package-lock.json lacks ${path}: run node tools/complete-lock.mjs`,
  );
  const differs = packages
    .filter(({ dir, manifest }) => textOf(lock.packages[dir] ?? {}) !== textOf(manifest))
    .map(
      ({ dir }) =>
        `package-lock.json does not match ${dir}/package.json: run npm install --package-lock-only`,
    );
  return { problems: [...lacks, ...differs], read };
};

const textOf = (manifest) =>
  JSON.stringify([manifest.name, ...DECLARED.map((key) => Object.entries(manifest[key] ?? {}).sort())]);
