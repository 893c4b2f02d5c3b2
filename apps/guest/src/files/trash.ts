import { chmodSync, opendirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { holdFolder, type Descriptor } from './descriptor.js';
import { codeOf } from './file-refusals.js';

const READ_AT_ONCE = 256;
/** Limit of attempts to empty a folder that other processes keep filling; the next start of the guest continues. */
const MAX_ATTEMPTS = 50;
const PAUSE_MS = 10;
const OWN_ALL = 0o700;

/**
 * Removes files and folders in the background. They move from the volume into the staging folder at once. An agent may
 * still have such a folder open and swap its contents, so every folder is moved out of its parent and held while it is
 * emptied. It follows no symlinks, and holds one folder at a time, regardless of the depth.
 */
export class Trash {
  readonly #prefix = `.gone-${process.pid}-${Date.now().toString(36)}-`;
  /** The numbers of what is in the staging folder: a tree may have a million folders. */
  readonly #waste: number[] = [];
  readonly #attempts = new Map<number, number>();
  #count = 0;
  readonly #closing = new AbortController();
  #working: Promise<void> | undefined;

  constructor(private readonly staging: Descriptor) {}

  /** Takes over what an earlier guest process has left in the staging folder. */
  takeLeftovers(): void {
    for (const name of readdirSync(this.staging.path, { encoding: 'buffer' })) {
      this.#take(this.staging.atBytes(name));
    }
  }

  /** Moves `name`, which may be of any type, out of `parent`. Errors: those of rename(2). */
  discard(parent: Descriptor, name: string): void {
    this.#take(parent.at(name));
  }

  /** Resolves when everything is removed or could not be. */
  async idle(): Promise<void> {
    await this.#working;
  }

  /** Leaves the rest to the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  #take(path: string | Buffer): void {
    const number = this.#count++;
    moveAway(path, this.#at(number));
    this.#waste.push(number);
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  }

  async #work(): Promise<void> {
    // Let the caller get its response first.
    await Promise.resolve();
    for (
      let waste = this.#waste.pop();
      waste !== undefined && !this.#closing.signal.aborted;
      waste = this.#waste.pop()
    ) {
      const attempts = this.#attempts.get(waste) ?? 0;
      if (attempts > 0) await this.#pause(attempts);
      const gone = await this.#remove(waste).catch(() => false);
      this.#attempts.delete(waste);
      if (gone || attempts >= MAX_ATTEMPTS) continue;
      this.#attempts.set(waste, attempts + 1);
      this.#waste.unshift(waste);
    }
  }

  /** Gives a process that keeps filling a folder time to stop. */
  async #pause(attempts: number): Promise<void> {
    const { signal } = this.#closing;
    await delay(attempts * PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }

  #at(waste: number): string {
    return this.staging.at(`${this.#prefix}${waste}`);
  }

  async #remove(waste: number): Promise<boolean> {
    const path = this.#at(waste);
    if (await isUnlinked(path)) return true;
    await this.#empty(path);
    rmdirSync(path);
    return true;
  }

  async #empty(path: string): Promise<void> {
    using folder = holdFolder(path);
    permitOwner(folder);
    const names = openNames(folder);
    try {
      for (
        let batch = names.next();
        batch.length > 0 && !this.#closing.signal.aborted;
        batch = names.next()
      ) {
        await Promise.all(batch.map((name) => this.#removeEntry(folder.atBytes(name))));
      }
    } finally {
      names.close();
    }
  }

  /** Moves a folder next to this one, to be emptied later. */
  async #removeEntry(path: Buffer): Promise<void> {
    if (!(await isUnlinked(path))) this.#take(path);
  }
}

/** False for a folder. */
const isUnlinked = async (path: string | Buffer): Promise<boolean> => {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    if (codeOf(error) === 'EISDIR') return false;
    throw error;
  }
};

/** A user cannot move a folder without write permission on the folder itself. */
const moveAway = (from: string | Buffer, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    using folder = holdFolder(from);
    permitOwner(folder);
    renameSync(from, to);
  }
};

const permitOwner = (folder: Descriptor): void => {
  try {
    chmodSync(folder.path, OWN_ALL);
  } catch {
    // The next call fails with the actual error.
  }
};

const openNames = (folder: Descriptor): { next(): Buffer[]; close(): void } => {
  const dir = opendirSync(folder.path, { encoding: 'buffer' as BufferEncoding, bufferSize: READ_AT_ONCE });
  return {
    next: () => {
      const names: Buffer[] = [];
      for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
        // With the encoding `buffer`, names are bytes, despite the types.
        names.push(entry.name as unknown as Buffer);
        if (names.length === READ_AT_ONCE) break;
      }
      return names;
    },
    close: () => dir.closeSync(),
  };
};
