import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DomainError } from '@berth/kernel';

const SCHEMA_VERSION = 1;
/* "BEvS": distinguishes our files from other SQLite databases. */
const APPLICATION_ID = 0x42457653;

const SCHEMA = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES streams (id),
    revision INTEGER NOT NULL,
    event_id BLOB NOT NULL,
    type TEXT NOT NULL,
    is_json INTEGER NOT NULL,
    created INTEGER NOT NULL,
    data BLOB NOT NULL,
    metadata BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream_id, revision);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** An open database file that no other process can open until `close()`. */
export interface OpenDatabase {
  readonly db: DatabaseSync;
  close(): void;
}

/**
 * Opens or creates the database at `file` for this process only. Throws `event_store_in_use` when another live process
 * has it open, `event_store_too_new` when a newer version wrote it, and `event_store_foreign_file` when it is some
 * other SQLite database.
 */
export function openDatabase(file: string): OpenDatabase {
  mkdirSync(dirname(file), { recursive: true });
  const lock = takeLock(file);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    prepareDatabase(db, file);
  } catch (error) {
    db?.close();
    lock.close();
    throw error;
  }
  const opened = db;
  return {
    db: opened,
    close: () => {
      opened.close();
      lock.close();
    },
  };
}

/*
 * SQLite's own lock on a file next to the log: the kernel releases it with the process, however the process ends, and
 * the log itself stays open to readers such as an online backup.
 */
function takeLock(file: string): DatabaseSync {
  const lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new DomainError(
      'conflict',
      'event_store_in_use',
      `another process has the event store ${file} open`,
    );
  }
}

function prepareDatabase(db: DatabaseSync, file: string): void {
  const version = pragma(db, 'user_version');
  const applicationId = pragma(db, 'application_id');
  const isEmpty = version === 0 && applicationId === 0 && isWithoutTables(db);
  if (!isEmpty && applicationId !== APPLICATION_ID) {
    throw new DomainError('conflict', 'event_store_foreign_file', `${file} is not an event store of Berth`);
  }
  if (version > SCHEMA_VERSION) {
    const message = `the event store ${file} has schema version ${version}; this program supports versions up to ${SCHEMA_VERSION}`;
    throw new DomainError('conflict', 'event_store_too_new', message);
  }
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000');
  db.exec('PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864');
  if (isEmpty) db.exec(`BEGIN; ${SCHEMA} COMMIT;`);
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

function isWithoutTables(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}
