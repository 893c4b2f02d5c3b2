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

/** What nobody has put anywhere for so long will not be. */
export const FORGOTTEN_AFTER_MS = 600_000;
/** Few and large writes. */
const WRITE_AT_ONCE = 1024 * 1024;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o755;

/** Bytes that arrive, with what their sender has said of their number. */
export interface Arriving {
  readonly chunks: AsyncIterable<Buffer>;
  readonly limitBytes: number;
  /** 0: nothing was said. */
  readonly announcedBytes: number;
}

/** The folder beside the volume that nobody but the guest can enter: what is half done or half gone lies here. */
export class Staging {
  readonly folder: Descriptor;
  readonly trash: Trash;
  readonly #staged = new Map<string, { readonly size: number; readonly timer: NodeJS.Timeout }>();
  #count = 0;

  /** Begins empty. */
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
   * Keeps what arrives until it is committed or discarded, or for ten minutes; what does not arrive whole leaves nothing.
   * Errors: conflict `staged_file_exists`, too_large `payload_too_large`, those of the file system and of whoever sends.
   */
  async receive(id: string, arriving: Arriving): Promise<StagedFile> {
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
    this.#staged.set(id, { size, timer: setTimeout(() => this.discard(id), FORGOTTEN_AFTER_MS).unref() });
    return { stagedId: id, size };
  }

  /** Bytes of a staged file. Errors: not_found `staged_file_unknown`. */
  sizeOf(id: string): number {
    const staged = this.#staged.get(id);
    if (staged === undefined) throw stagedFileUnknown();
    return staged.size;
  }

  /** Path of a staged file that now belongs to the agent. Whoever has put it into place calls `forget`. */
  handOver(id: string, mode: number): string {
    const path = this.folder.at(id);
    chmodSync(path, mode);
    this.#own(path);
    return path;
  }

  /** The file of this id has left the folder. */
  forget(id: string): void {
    clearTimeout(this.#staged.get(id)?.timer);
    this.#staged.delete(id);
  }

  /** An unknown one is gone already. */
  discard(id: string): void {
    if (!this.#staged.has(id)) return;
    this.forget(id);
    this.trash.bury(this.folder, id);
  }

  /**
   * Puts a new folder of the agent at `name`, unless something has come there meanwhile. It is made here, where the agent
   * cannot exchange it for another before it is given away.
   */
  readonly makeFolder = (parent: Descriptor, name: string): void => {
    const path = this.folder.at(this.#newName());
    mkdirSync(path);
    try {
      chmodSync(path, FOLDER_MODE);
      this.#own(path);
      renameSync(path, parent.at(name));
    } catch (error) {
      rmdirSync(path);
      if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error;
    }
  };

  /**
   * Removes `name`, which has the inode `ino` and by now another name too. What the agent has put there in between is put
   * back, or given up when the agent was faster again.
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
      this.trash.bury(this.folder, taken);
    }
  }

  async close(): Promise<void> {
    for (const { timer } of this.#staged.values()) clearTimeout(timer);
    this.#staged.clear();
    await this.trash.close();
    this.folder[Symbol.dispose]();
  }

  /** What cannot be removed now, the folder being closed perhaps, is removed by the next life of the guest. */
  async #unlink(id: string): Promise<void> {
    try {
      await unlink(this.folder.at(id));
    } catch {
      // See above.
    }
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
      'A file is staged under this id.',
      {},
      { cause: error },
    );
  }
};

/** Writes what has come while the next is coming; answers how many bytes there were. */
const writeAll = async (file: FileHandle, { chunks, limitBytes }: Arriving): Promise<number> => {
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
      // It is awaited with the next one; until then nobody else may take it for unhandled.
      writing.catch(() => undefined);
      [waiting, waitingBytes] = [[], 0];
    }
  } finally {
    await writing;
  }
  if (waitingBytes > 0) await writeWhole(file, waiting, waitingBytes);
  return size;
};

/** A disk that is nearly full takes a part, and says so at the next attempt. */
const writeWhole = async (file: FileHandle, chunks: Buffer[], bytes: number): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten === bytes) return;
  let rest = Buffer.concat(chunks).subarray(bytesWritten);
  while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
};
