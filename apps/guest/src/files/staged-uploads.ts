import {
  chmodSync,
  chownSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { DomainError } from '@berth/kernel';
import type { PutProgram, StagedFile } from '@berth/guest-protocol';
import { holdFolder, type Descriptor } from './descriptor.js';
import { codeOf, payloadTooLarge, stagedFileUnknown } from './file-refusals.js';
import { Trash } from './trash.js';

/** How long a staged file is kept. */
export const STAGED_FOR_MS = 600_000;
/** Writes in large chunks. */
const WRITE_AT_ONCE = 1024 * 1024;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o755;

/** An incoming upload and its announced size. */
export interface IncomingUpload {
  readonly chunks: AsyncIterable<Buffer>;
  readonly limitBytes: number;
  /** 0: unknown. */
  readonly announcedBytes: number;
}

/**
 * The folder next to the volume that only the guest can access. It contains files that are incomplete or being removed.
 */
export class StagedUploads {
  readonly folder: Descriptor;
  readonly trash: Trash;
  readonly #staged = new Map<string, { readonly size: number; readonly timer: NodeJS.Timeout }>();
  #count = 0;

  /** Empties the folder. */
  constructor(
    path: string,
    private readonly owner: PutProgram['runAs'],
  ) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.folder = holdFolder(path);
    this.trash = new Trash(this.folder);
    this.trash.takeLeftovers();
  }

  /**
   * Stores an upload until it is committed or discarded, for ten minutes at most; an incomplete upload leaves nothing.
   * Errors: conflict `staged_file_exists`, too_large `payload_too_large`, those of the file system and of the sender's
   * stream.
   */
  async receive(id: string, arriving: IncomingUpload): Promise<StagedFile> {
    if (arriving.announcedBytes > arriving.limitBytes) throw payloadTooLarge(arriving.limitBytes);
    const file = await create(this.folder.at(id));
    let size: number;
    try {
      size = await writeAll(file, arriving);
      await file.close();
    } catch (error) {
      await file.close().catch(() => undefined);
      await this.#unlink(id);
      throw error;
    }
    this.#staged.set(id, { size, timer: setTimeout(() => this.discard(id), STAGED_FOR_MS).unref() });
    return { stagedId: id, size };
  }

  /** Size of a staged file in bytes. Errors: not_found `staged_file_unknown`. */
  sizeOf(id: string): number {
    const staged = this.#staged.get(id);
    if (staged === undefined) throw stagedFileUnknown();
    return staged.size;
  }

  /**
   * Transfers ownership of a staged file to the agent and returns its path. Call `forget` after moving it into place.
   */
  claim(id: string, mode: number): string {
    const path = this.folder.at(id);
    chmodSync(path, mode);
    this.#own(path);
    return path;
  }

  /** Call when the file of this id has left the folder. */
  forget(id: string): void {
    clearTimeout(this.#staged.get(id)?.timer);
    this.#staged.delete(id);
  }

  /** Ignores an unknown id. */
  discard(id: string): void {
    if (!this.#staged.has(id)) return;
    this.forget(id);
    this.trash.discard(this.folder, id);
  }

  /**
   * Creates a folder of the agent at `name`, unless something has appeared there in the meantime. It is created in the
   * staging folder first, where the agent cannot replace it before its owner is set. Returns whether it was created.
   */
  readonly makeFolder = (parent: Descriptor, name: string): boolean => {
    const path = this.folder.at(this.#newName());
    mkdirSync(path);
    try {
      chmodSync(path, FOLDER_MODE);
      this.#own(path);
      renameSync(path, parent.at(name));
      return true;
    } catch (error) {
      rmdirSync(path);
      if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error;
      return false;
    }
  };

  /**
   * Removes `name`, which has the inode `ino` and by now a second name. If the agent has put something else there in
   * the meantime, restores it, or deletes it if its name is taken again.
   */
  takeAway(parent: Descriptor, name: string, ino: bigint): void {
    const taken = this.#newName();
    const path = this.folder.at(taken);
    try {
      renameSync(parent.at(name), path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    const stats = lstatSync(path, { bigint: true });
    if (stats.ino === ino) return unlinkSync(path);
    try {
      if (stats.isDirectory()) return renameSync(path, parent.at(name));
      linkSync(path, parent.at(name));
      unlinkSync(path);
    } catch {
      this.trash.discard(this.folder, taken);
    }
  }

  async close(): Promise<void> {
    for (const { timer } of this.#staged.values()) clearTimeout(timer);
    this.#staged.clear();
    await this.trash.close();
    this.folder[Symbol.dispose]();
  }

  /** Ignores failures, for example on a closed folder: the next start of the guest removes the file. */
  async #unlink(id: string): Promise<void> {
    try {
      await unlink(this.folder.at(id));
    } catch {}
  }

  #newName(): string {
    return `.new-${this.#count++}`;
  }

  #own(path: string): void {
    if (this.owner !== null) chownSync(path, this.owner.uid, this.owner.gid);
  }
}

const create = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, OWNER_ONLY);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new DomainError(
      'conflict',
      'staged_file_exists',
      'A file is already staged under this id.',
      {},
      { cause: error },
    );
  }
};

/** Writes received chunks while the next arrive; returns the number of bytes. */
const writeAll = async (file: FileHandle, { chunks, limitBytes }: IncomingUpload): Promise<number> => {
  let size = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > limitBytes) throw payloadTooLarge(limitBytes);
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes < WRITE_AT_ONCE) continue;
      await writing;
      writing = writeWhole(file, waiting, waitingBytes);
      // The promise is awaited with the next write; until then, avoid an unhandled rejection.
      writing.catch(() => undefined);
      [waiting, waitingBytes] = [[], 0];
    }
  } finally {
    await writing;
  }
  if (waitingBytes > 0) await writeWhole(file, waiting, waitingBytes);
  return size;
};

/** A nearly full disk accepts a part of the data and fails on the next write. */
const writeWhole = async (file: FileHandle, chunks: Buffer[], bytes: number): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten === bytes) return;
  let rest = Buffer.concat(chunks).subarray(bytesWritten);
  while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
};
