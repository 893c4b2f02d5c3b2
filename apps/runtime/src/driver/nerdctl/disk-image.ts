import { execFile } from 'node:child_process';
import { open, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { promisify } from 'node:util';
import { becomesTrue } from '../../poll.js';
import { DriverError } from '../driver-error.js';
import { isSmallerThan } from './ext4-size.js';
import { mountPointsOf } from './mount-points.js';

const run = promisify(execFile);

const RELEASED_WITHIN_MS = 5_000;
/** A check of a file system that was not unmounted replays its journal; only a damaged one takes longer. */
const CHECKED_WITHIN_MS = 120_000;
/** A file system of 1 GB has room for 131,072 files. Each takes 256 bytes even while it does not exist. */
const BYTES_PER_FILE = 8_192;
/** e2fsck(8): errors were corrected. */
const CORRECTED = 1;

/**
 * A file system of its own in a sparse file. It costs the host about as much as it holds: an empty one is initialised
 * lazily, and deleting a file gives its blocks back.
 */
export class DiskImage {
  /** `mountPoint` exists while the image is mounted. */
  constructor(
    private readonly file: string,
    private readonly mountPoint: string,
    private readonly owner: { readonly uid: number; readonly gid: number },
  ) {}

  /**
   * Creates the file system, or checks and grows an existing one; it never shrinks. Then mounts it. Errors: `box_stuck`,
   * while the kernel still has it mounted somewhere.
   */
  async mount(bytes: number): Promise<void> {
    await this.release();
    const size = await sizeOf(this.file);
    if (size === undefined) await this.#create(bytes);
    else {
      const whole = Math.max(size, bytes);
      const isSmall = await isSmallerThan(this.file, whole);
      await this.#check(isSmall);
      if (isSmall) await this.#grow(whole);
    }
    await run('mount', ['-t', 'ext4', '-o', 'loop,nosuid,nodev,discard', this.file, this.mountPoint]);
  }

  /**
   * Unmounts it wherever this process sees it mounted; other mount namespaces and overlays may still hold it. A no-op if
   * it is not mounted. Errors: `box_stuck`.
   */
  async unmount(): Promise<void> {
    const unmounted = async (): Promise<boolean> => {
      const points = mountPointsOf(await readFile('/proc/self/mountinfo', 'utf8'), this.mountPoint);
      // Busy for a moment after the last process has ended.
      for (const point of points) await run('umount', [point]).catch(() => undefined);
      return points.length === 0;
    };
    await within(unmounted);
  }

  /**
   * Unmounts it, and waits until the kernel has ended the file system: only then may another program write to the image.
   * The kernel releases the loop device at that moment. Errors: `box_stuck`.
   */
  async release(): Promise<void> {
    await this.unmount();
    if ((await sizeOf(this.file)) !== undefined) await within(async () => !(await this.#isAttached()));
  }

  async remove(): Promise<void> {
    await this.release();
    await rm(this.file, { force: true });
  }

  /** Compares inodes: a process of another mount namespace may have attached the image under another path. */
  async #isAttached(): Promise<boolean> {
    const { stdout } = await run('losetup', ['--associated', this.file, '--noheadings', '--output', 'NAME']);
    return stdout !== '';
  }

  async #create(bytes: number): Promise<void> {
    const { uid, gid } = this.owner;
    // A crash must not leave half a file system under the name.
    const making = `${this.file}.new`;
    await rm(making, { force: true });
    await (await open(making, 'wx', 0o600)).close();
    await truncate(making, bytes);
    const options = `lazy_itable_init=1,lazy_journal_init=1,root_owner=${uid}:${gid}`;
    await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-i', String(BYTES_PER_FILE), '-E', options, making]);
    await rename(making, this.file);
  }

  async #check(force: boolean): Promise<void> {
    const args = [...(force ? ['-f'] : []), '-p', this.file];
    await run('e2fsck', args, { timeout: CHECKED_WITHIN_MS }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === CORRECTED) return;
      throw error;
    });
  }

  async #grow(bytes: number): Promise<void> {
    await truncate(this.file, bytes);
    await run('resize2fs', [this.file]);
  }
}

const within = async (released: () => Promise<boolean>): Promise<void> => {
  if (!(await becomesTrue(released, RELEASED_WITHIN_MS)))
    throw new DriverError('box_stuck', 'The volume of the agent could not be released.');
};

const sizeOf = async (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );
