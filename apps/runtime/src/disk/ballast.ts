import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SLICES = 8;
const INODES_PER_SLICE = 64;
/** What the whole ballast holds. */
export const BALLAST_INODES = SLICES * INODES_PER_SLICE;
/** Files of a file system in memory would take memory from the machine. */
const TMPFS = 0x0102_1994;

const run = promisify(execFile);

/**
 * Files that keep space and inodes for what Berth itself writes. They are given up one by one when the disk is full: a
 * program that takes the first shows that it goes on writing, and ends before the others are given up.
 */
export class Ballast {
  constructor(private readonly folder: string) {}

  /** Takes what is missing of `bytes`, if the disk has room. Throws the error of the file system, and keeps the rest. */
  async restore(bytes: number): Promise<void> {
    if ((await statfs(join(this.folder, '..'))).type === TMPFS) return;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const kept = new Set(await this.#slices());
    for (let slice = 1; slice <= SLICES; slice++)
      if (!kept.has(String(slice))) await this.#take(String(slice), Math.ceil(bytes / SLICES));
  }

  /** Gives up a part; returns false if nothing is left. */
  async giveUpSlice(): Promise<boolean> {
    const slice = (await this.#slices()).at(-1);
    if (slice === undefined) return false;
    await rm(join(this.folder, slice), { recursive: true, force: true });
    return true;
  }

  async #take(slice: string, bytes: number): Promise<void> {
    const making = join(this.folder, 'making');
    try {
      await rm(making, { recursive: true, force: true });
      await mkdir(making, { mode: 0o700 });
      await run('fallocate', ['-l', String(bytes), join(making, 'space')]);
      for (let inode = 1; inode < INODES_PER_SLICE; inode++)
        await writeFile(join(making, String(inode)), '', { mode: 0o600 });
      await rename(making, join(this.folder, slice));
    } catch (error) {
      await rm(making, { recursive: true, force: true });
      throw error;
    }
  }

  async #slices(): Promise<readonly string[]> {
    return (await readdir(this.folder).catch(() => [])).filter((name) => name !== 'making').toSorted();
  }
}
