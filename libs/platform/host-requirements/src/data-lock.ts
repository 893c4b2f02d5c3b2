import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensurePrivateFolder, readJsonObject, writePrivateFile } from './private-file.js';

/** Thrown when another process holds the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';
}

/** A lock on a data folder. `release` is idempotent; the end of the process releases the lock too. */
export interface DataLock {
  readonly dataDir: string;
  release(): void;
}

interface Hold {
  readonly database: DatabaseSync;
  readonly holderFile: string;
  holders: number;
}

const holds = new Map<string, Hold>();

/**
 * Locks a data folder for this process, creating it (mode 0700) if it is missing. The lock is a kernel lock on
 * `<dataDir>/lock`, taken through SQLite: it ends with the process, however the process ends, so it can neither become
 * stale nor depend on a process id. Acquiring it again in the same process shares it. Throws {@link
 * DataFolderInUseError} immediately when another process holds it.
 */
export function acquireDataLock(dataDir: string): DataLock {
  ensurePrivateFolder(dataDir);
  const folder = realpathSync(dataDir);
  const hold = holds.get(folder) ?? takeHold(folder);
  hold.holders += 1;
  holds.set(folder, hold);
  let released = false;
  return {
    dataDir: folder,
    release: () => {
      if (released) return;
      released = true;
      hold.holders -= 1;
      if (hold.holders > 0) return;
      holds.delete(folder);
      rmSync(hold.holderFile, { force: true });
      hold.database.close();
    },
  };
}

function takeHold(folder: string): Hold {
  const holderFile = join(folder, 'lock-holder.json');
  const database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    // A rollback journal makes BEGIN EXCLUSIVE exclude readers too; WAL would let a second holder in.
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new DataFolderInUseError(inUseMessage(folder, holderFile));
  }
  writePrivateFile(holderFile, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }));
  return { database, holderFile, holders: 0 };
}

function isBusy(error: unknown): boolean {
  // 5 is SQLITE_BUSY; the upper bits of an extended code give the reason.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

function inUseMessage(folder: string, holderFile: string): string {
  const holder = readJsonObject(holderFile);
  const who = holder ? ` (process ${String(holder['pid'])}, since ${String(holder['since'])})` : '';
  return (
    `The data folder ${folder} is in use by a running Berth${who}. ` +
    'Stop that one first, or start this one with another data folder (BERTH_DATA, for a runtime BERTH_RUNTIME_DATA).'
  );
}
