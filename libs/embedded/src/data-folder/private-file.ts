import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A data folder that cannot be made or entered; the message says why. */
export class DataFolderUnusableError extends Error {
  override readonly name = 'DataFolderUnusableError';
}

/**
 * Creates a folder (and its parents) that only its owner may enter, and tightens one that exists. Throws
 * `DataFolderUnusableError`.
 */
export function ensurePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DataFolderUnusableError(
      `The data folder ${path} cannot be used (${why}); set BERTH_DATA to a folder of its own.`,
      { cause: error },
    );
  }
}

/** Writes a file of mode 0600 in one step: a reader sees the old content or the new, never a part of it. */
export function writePrivateFile(path: string, content: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
}

/** The object in a JSON file, or nothing where the file is missing or was cut short. */
export function readJsonObject(path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
