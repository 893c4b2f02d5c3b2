import { lstatSync } from 'node:fs';
import type { FileEntry } from '@berth/guest-protocol';
import { reopen, type Descriptor } from './descriptor.js';
import { parsePath } from './file-path.js';
import { notADirectory, pathNotFound } from './file-refusals.js';
import { Slices } from './slices.js';
import { fromKey, type FolderName, type SortedNames } from './sorted-names.js';
import { walk, type Ground } from './volume-walk.js';

/** Number of entries whose metadata is read at a time. */
const WRITE_AT_ONCE = 128;

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

/** Runs a pass over a folder when it is its turn. */
export type InTurn = <T>(pass: () => Promise<T>) => Promise<T>;

/**
 * One `FileList` as JSON, in chunks, each made when the reader has room for it. Skips entries that disappear in the
 * meantime, and yields to other work regularly. `first` is the first batch of `names`; `inTurn` gets a pass over the folder for each of the others.
 */
export const listText = async function* (
  { folder, path }: OpenedFolder,
  root: string,
  {
    first,
    names,
    inTurn,
  }: { readonly first: readonly string[]; readonly names: SortedNames; readonly inTurn: InTurn },
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  yield `{"path":${JSON.stringify(path)},"root":${JSON.stringify(root)},"entries":[`;
  const slices = new Slices();
  let separator = '';
  for (let batch = first; batch.length > 0;) {
    for (let from = 0; from < batch.length; from += WRITE_AT_ONCE) {
      const keys = batch.slice(from, from + WRITE_AT_ONCE);
      const entries = keys.flatMap((key) => toEntry(folder, fromKey(key)) ?? []);
      if (entries.length === 0) continue;
      yield separator + JSON.stringify(entries).slice(1, -1);
      separator = ',';
      await slices.restIfOver();
    }
    // The next pass takes memory of its own.
    batch = [];
    if (!names.isComplete) batch = await inTurn(() => names.next(signal));
  }
  yield ']}';
};

const toEntry = (folder: Descriptor, { name, bytes }: FolderName): FileEntry | undefined => {
  const path = bytes === undefined ? folder.at(name) : folder.atBytes(bytes);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const isDir = stats.isDirectory();
  return { name, isDir, size: isDir ? 0 : stats.size, mtime: Math.floor(stats.mtimeMs / 1_000) };
};
