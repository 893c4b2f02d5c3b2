import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The size of a file system in memory; without `inodes`, it has as many as the kernel chooses. */
export interface MemoryDisk {
  readonly mb: number;
  readonly inodes?: number;
}

/**
 * A file system of its own in a folder, which can be filled to its last block or inode. Needs root. It is unmounted
 * however the process of the test ends.
 */
export class SmallDisk {
  readonly #filler: string;

  private constructor(
    readonly path: string,
    private readonly guard: ChildProcess,
  ) {
    this.#filler = join(path, 'filler');
  }

  /** An ext4 in the file `image`, without blocks reserved for root. */
  static mount(image: string, path: string, mb: number): SmallDisk {
    writeFileSync(image, '');
    execFileSync('truncate', ['--size', `${String(mb)}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    return SmallDisk.#mounted(path, ['-o', 'loop', image]);
  }

  static inMemory(path: string, { mb, inodes }: MemoryDisk): SmallDisk {
    const options = [`size=${String(mb)}m`, ...(inodes === undefined ? [] : [`nr_inodes=${String(inodes)}`])];
    return SmallDisk.#mounted(path, ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs']);
  }

  static #mounted(path: string, options: readonly string[]): SmallDisk {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    execFileSync('mount', [...options, path]);
    chmodSync(path, 0o700);
    // Its input ends with this process.
    const guard = spawn('sh', ['-c', 'cat; umount -l -- "$0" 2> /dev/null', path], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    guard.unref();
    return new SmallDisk(path, guard);
  }

  get freeBlocks(): number {
    return statfsSync(this.path).bavail;
  }

  get freeInodes(): number {
    return statfsSync(this.path).ffree;
  }

  /** Takes all space that is left, the last of it block by block. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.path);
    const append = [`of=${this.#filler}`, 'bs=4K', 'oflag=append', 'conv=notrunc'];
    for (const [program, ...args] of [
      ['fallocate', '-l', String(bavail * bsize), `${this.#filler}.most`],
      ['dd', 'if=/dev/zero', ...append],
    ] as const) {
      try {
        execFileSync(program, args, { stdio: 'ignore' });
      } catch {
        // The disk has less, or nothing is left.
      }
    }
  }

  /** Takes all inodes that are left. */
  fillInodes(): void {
    const folder = `${this.#filler}.d`;
    mkdirSync(folder, { recursive: true });
    for (let made = readdirSync(folder).length; this.freeInodes > 0; made++)
      writeFileSync(join(folder, String(made)), '');
  }

  free(): void {
    for (const file of [this.#filler, `${this.#filler}.most`]) rmSync(file, { force: true });
    rmSync(`${this.#filler}.d`, { recursive: true, force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path]);
    this.guard.kill();
  }
}
