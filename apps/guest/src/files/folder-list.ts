import { lstatSync, opendirSync, type Dir, type Stats } from 'node:fs';
import type { FileEntry } from '@berth/guest-protocol';
import { reopen, type Descriptor } from './descriptor.js';
import { parsePath } from './file-path.js';
import { notADirectory, pathNotFound } from './file-refusals.js';
import { Slices } from './slices.js';
import { byCodePoint, mergeRuns, RUN_LENGTH } from './sort-in-slices.js';
import { walk, type Ground } from './volume-walk.js';

const READ_AT_ONCE = 1_024;
/** Number of entries between two checks of the clock. */
const CHECK_EVERY = 64;
const WRITE_AT_ONCE = 256;
/** Replaces bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD';

/** An opened folder that has not been read yet. */
export interface OpenedFolder extends Disposable {
  readonly folder: Descriptor;
  readonly path: string;
}

/** Errors: invalid `not_a_directory`; not_found `path_not_found`; those of every walk. */
export const openFolder = (ground: Ground, path: string): OpenedFolder => {
  using found = walk(ground, parsePath(path), { follow: true });
  const { target } = found;
  if (target === undefined) throw pathNotFound();
  if (!target.stats.isDirectory()) throw notADirectory();
  const folder = reopen(target.descriptor);
  return { folder, path: found.path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
};

/** One `FileList` as JSON, in chunks. */
export const listText = function* (
  path: string,
  root: string,
  entries: readonly FileEntry[],
): Generator<string, void, void> {
  yield `{"path":${JSON.stringify(path)},"root":${JSON.stringify(root)},"entries":[`;
  for (let from = 0; from < entries.length; from += WRITE_AT_ONCE) {
    const text = JSON.stringify(entries.slice(from, from + WRITE_AT_ONCE)).slice(1, -1);
    yield from === 0 ? text : `,${text}`;
  }
  yield ']}';
};

/** Reads all entries, sorted by name. Skips entries that disappear in the meantime. Yields to other work regularly. */
export const readEntries = async ({ folder }: OpenedFolder): Promise<readonly FileEntry[]> => {
  const slices = new Slices();
  const runs: FileEntry[][] = [];
  let run: FileEntry[] = [];
  const endRun = (): void => {
    runs.push(run.sort(byName));
    run = [];
  };
  const dir = opendirSync(folder.path, { encoding: 'buffer' as BufferEncoding, bufferSize: READ_AT_ONCE });
  try {
    for (let count = 1, name = nextName(dir); name !== undefined; count++, name = nextName(dir)) {
      const entry = toEntry(folder, name);
      if (entry !== undefined) run.push(entry);
      if (run.length === RUN_LENGTH) endRun();
      if (count % CHECK_EVERY === 0 && slices.over) await slices.rest();
    }
  } finally {
    dir.closeSync();
  }
  endRun();
  return mergeRuns(runs, byName, slices);
};

const byName = (left: FileEntry, right: FileEntry): number => byCodePoint(left.name, right.name);

/** With the encoding `buffer`, names are bytes, despite the types. */
const nextName = (dir: Dir): Buffer | undefined => dir.readSync()?.name as unknown as Buffer | undefined;

const toEntry = (folder: Descriptor, bytes: Buffer): FileEntry | undefined => {
  const name = bytes.toString();
  const stats = lstat(name.includes(REPLACEMENT) ? folder.atBytes(bytes) : folder.at(name));
  if (stats === undefined) return undefined;
  const isDir = stats.isDirectory();
  return { name, isDir, size: isDir ? 0 : stats.size, mtime: Math.floor(stats.mtimeMs / 1_000) };
};

const lstat = (path: string | Buffer): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
