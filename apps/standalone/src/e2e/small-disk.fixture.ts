import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file system of its own in a folder, which can be filled to its last block. */
export class SmallDisk {
  readonly #filler: string;

  private constructor(readonly path: string) {
    this.#filler = join(path, 'filler');
  }

  static mount(image: string, path: string, mb: number): SmallDisk {
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(image, '');
    execFileSync('truncate', ['--size', `${String(mb)}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    execFileSync('mount', ['-o', 'loop', image, path]);
    chmodSync(path, 0o700);
    return new SmallDisk(path);
  }

  get freeBlocks(): number {
    return statfsSync(this.path).bavail;
  }

  /** Takes all space that is left, the last of it block by block. */
  fill(): void {
    for (const size of ['1M', '4K']) {
      const options = [`of=${this.#filler}`, `bs=${size}`, 'oflag=append', 'conv=notrunc,fsync'];
      try {
        execFileSync('dd', ['if=/dev/zero', ...options], { stdio: 'ignore' });
      } catch {
        // The disk is full now.
      }
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  unmount(): void {
    execFileSync('umount', [this.path]);
  }
}
