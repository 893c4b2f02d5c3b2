import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A data folder that cannot be created or entered; the message gives the reason. */
export class DataFolderUnusableError extends Error {
  override readonly name = 'DataFolderUnusableError';
}

/**
 * Creates a folder (and its parents) that only its owner can enter, and restricts an existing one. Throws
 * `DataFolderUnusableError`.
 */
export function ensurePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DataFolderUnusableError(
      `The data folder ${path} cannot be used (${why}); set BERTH_DATA to a dedicated folder.`,
      { cause: error },
    );
  }
}

/** Writes a file of mode 0600 atomically: a reader sees either the old or the new content, never a part of it. */
export function writePrivateFile(path: string, content: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
}

/** The object in a JSON file; undefined if the file is missing or truncated. */
export function readJsonObject(path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Like `readJsonObject`, for a file that must not be replaced: throws `DataFolderUnusableError` if it exists but is
 * damaged or cannot be read.
 */
export function readKeptObject(path: string): Record<string, unknown> | undefined {
  const kept = readJsonObject(path);
  if (kept === undefined && existsSync(path))
    throw new DataFolderUnusableError(`${path} cannot be read or is damaged; restore it from a backup.`);
  return kept;
}
