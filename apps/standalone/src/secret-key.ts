import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the key that seals secrets at rest. It is generated on the first start and kept in the data folder (mode
 * 0600); an operator who sets BERTH_SECRET_KEY keeps it elsewhere. The file is written atomically, however a start
 * ends.
 */
export const readOrCreateSecretKey = (dataDir: string): string => {
  const file = join(dataDir, 'secret-key');
  const kept = read(file);
  if (kept !== undefined) return kept;
  const draft = `${file}.${String(process.pid)}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `k1:${randomBytes(32).toString('base64')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    // Unlike a rename, a link never replaces an existing key, which may already have sealed secrets.
    linkSync(draft, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
};

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
