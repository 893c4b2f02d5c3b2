import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The key that seals secrets at rest, drawn on the first start and kept in the data folder (mode 0600). An operator
 * who sets BERTH_SECRET_KEY keeps it elsewhere.
 */
export const readOrDrawSecretKey = (dataDir: string): string => {
  const file = join(dataDir, 'secret-key');
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      writeSync(descriptor, `k1:${randomBytes(32).toString('base64')}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8').trim();
};
