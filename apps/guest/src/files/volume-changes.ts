import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { FileChange, FileCommand, StagedTarget } from '@berth/guest-protocol';
import type { Descriptor } from './descriptor.js';
import { fileName, numberedName, parsePath, type PathParts } from './file-path.js';
import {
  codeOf,
  destinationExists,
  invalidPath,
  moveIntoItself,
  notADirectory,
  pathExists,
  pathNotFound,
  sourceNotFound,
  volumeRoot,
} from './file-refusals.js';
import type { StagedUploads } from './staged-uploads.js';
import { walk, type WalkResult, type Ground } from './volume-walk.js';

const NEW_FILE_MODE = 0o644;
/** Read, write and execute bits only: a new file must not inherit setuid or setgid. */
const PERMISSIONS = 0o777;
const INBOX: PathParts = { absolute: false, parts: ['inbox'] };
/** After this many numbers, a taken name gets a random suffix instead. */
const MAX_NUMBERS = 1_000;
const MARK_BYTES = 8;

type Change<Op extends FileCommand['op']> = Extract<FileCommand, { readonly op: Op }>;
type Spot = NonNullable<WalkResult['spot']>;

interface InboxFolder {
  readonly path: string;
  readonly folder: Descriptor;
}

/**
 * Changes the volume. Each change runs synchronously, so that two of them never interleave. To be safe against the
 * agent, each acts on held folders, with calls that follow no symlinks.
 */
export class VolumeChanges {
  constructor(
    private readonly ground: Ground,
    private readonly staging: StagedUploads,
  ) {}

  apply(command: FileCommand): FileChange {
    switch (command.op) {
      case 'commit':
        return this.#commit(command);
      case 'discard':
        this.staging.discard(command.stagedId);
        return { path: '', name: '', size: 0 };
      case 'mkdir':
        return this.#makeFolder(command);
      case 'move':
        return this.#move(command);
      case 'delete':
        return this.#remove(command);
    }
  }

  #commit({ stagedId, target }: Change<'commit'>): FileChange {
    const size = this.staging.sizeOf(stagedId);
    const path =
      target.kind === 'inbox' ? this.#intoInbox(stagedId, target.name) : this.#into(stagedId, target);
    this.staging.forget(stagedId);
    return { path, name: lastPart(path), size };
  }

  #into(stagedId: string, target: Exclude<StagedTarget, { readonly kind: 'inbox' }>): string {
    using found = this.#walk(toParts(target), { follow: true, make: 'parents' });
    const { spot } = found;
    if (spot === undefined || found.target?.stats.isDirectory() === true) throw pathExists();
    const replaced = found.target?.stats;
    const mode = replaced?.isFile() === true ? replaced.mode & PERMISSIONS : NEW_FILE_MODE;
    return orUndo(found, () => {
      renameSync(this.staging.claim(stagedId, mode), spot.parent.at(spot.name));
      return found.path;
    });
  }

  /** A link fails if the name exists, so a concurrent upload gets the next number. */
  #intoInbox(stagedId: string, given: string): string {
    const name = fileName(given);
    using inbox = this.#walk(INBOX, { follow: true, make: 'all', blocked: pathExists });
    if (inbox.target?.stats.isDirectory() !== true) throw pathExists();
    const at = { path: inbox.path, folder: inbox.target.descriptor };
    return orUndo(inbox, () => this.#underFreeName(stagedId, name, at));
  }

  #underFreeName(stagedId: string, name: string, inbox: InboxFolder): string {
    const { folder } = inbox;
    const path = this.staging.claim(stagedId, NEW_FILE_MODE);
    for (let number = 1; number <= MAX_NUMBERS; number++) {
      const free = number === 1 ? name : numberedName(name, String(number));
      if (isLinked(path, folder, free)) return this.#leaveStaging(path, `${inbox.path}/${free}`);
    }
    const unique = numberedName(name, randomBytes(MARK_BYTES).toString('hex'));
    renameSync(path, folder.at(unique));
    return `${inbox.path}/${unique}`;
  }

  #leaveStaging(path: string, put: string): string {
    unlinkSync(path);
    return put;
  }

  #makeFolder({ path }: Change<'mkdir'>): FileChange {
    using found = this.#walk(required(path), { follow: true, make: 'all' });
    if (found.target?.stats.isDirectory() !== true) throw pathExists();
    return changed(found);
  }

  /** Does not create missing parents: the destination of a move must exist. */
  #move({ from, to }: Change<'move'>): FileChange {
    using source = this.#walk(required(from), {
      follow: false,
      missing: sourceNotFound,
      blocked: sourceNotFound,
    });
    if (source.spot === undefined) throw volumeRoot();
    if (source.target === undefined) throw sourceNotFound();
    const isFolder = source.target.stats.isDirectory();
    const parts = required(to);
    if (isFolder && this.#plain(parts).startsWith(`${source.path}/`)) throw moveIntoItself();
    using destination = this.#walk(parts, { follow: false });
    if (destination.target !== undefined || destination.spot === undefined) throw destinationExists();
    const path = { from: source.path, to: destination.path };
    if (isFolder) renameFolder(source.spot, destination.spot);
    else this.#moveFile(source.spot, destination.spot);
    return { path: path.to, from: path.from, name: lastPart(path.to), size: 0 };
  }

  /**
   * Links the file to its new name, which never replaces anything, then removes the old name. If the agent has put
   * another file there in the meantime, restores that one.
   */
  #moveFile(from: Spot, to: Spot): void {
    const [old, next] = [from.parent.at(from.name), to.parent.at(to.name)];
    try {
      linkSync(old, next);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw destinationExists();
      if (!['EPERM', 'EMLINK', 'EOPNOTSUPP'].includes(codeOf(error) ?? '')) throw error;
      // Some files cannot be linked; a rename then replaces any entry that appears there at this very moment.
      return renameSync(old, next);
    }
    this.staging.takeAway(from.parent, from.name, lstatSync(next, { bigint: true }).ino);
  }

  #remove({ path }: Change<'delete'>): FileChange {
    using found = this.#walk(required(path), { follow: false, blocked: pathNotFound });
    const { spot } = found;
    if (spot === undefined) throw volumeRoot();
    if (found.target === undefined) throw pathNotFound();
    this.staging.trash.discard(spot.parent, spot.name);
    return changed(found);
  }

  #walk(path: PathParts, rules: Parameters<typeof walk>[2]): WalkResult {
    return walk(this.ground, path, { blocked: notADirectory, makeFolder: this.staging.makeFolder, ...rules });
  }

  /** Where a path leads if it contains no symlinks. */
  #plain({ absolute, parts }: PathParts): string {
    const way: string[] = absolute ? [] : [...this.ground.root];
    for (const part of parts) {
      if (part === '..') way.pop();
      else way.push(part);
    }
    return `/${way.join('/')}`;
  }
}

/** A failed change leaves no folder that its walk has created. */
const orUndo = <Result>(found: WalkResult, change: () => Result): Result => {
  try {
    return change();
  } catch (error) {
    found.undo();
    throw error;
  }
};

const toParts = (target: Exclude<StagedTarget, { readonly kind: 'inbox' }>): PathParts => {
  if (target.kind === 'path') return required(target.path);
  const { absolute, parts } = parsePath(target.folder);
  return { absolute, parts: [...parts, fileName(target.name)] };
};

const required = (path: string): PathParts => {
  if (path === '') throw invalidPath('The path must not be empty.');
  return parsePath(path);
};

const changed = ({ path }: WalkResult): FileChange => ({ path, name: lastPart(path), size: 0 });

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Can replace only an empty folder that appears there at this very moment. */
const renameFolder = (from: Spot, to: Spot): void => {
  try {
    renameSync(from.parent.at(from.name), to.parent.at(to.name));
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EINVAL') throw moveIntoItself();
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR'].includes(code)) throw destinationExists();
    throw error;
  }
};

const isLinked = (path: string, folder: Descriptor, name: string): boolean => {
  try {
    linkSync(path, folder.at(name));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};
