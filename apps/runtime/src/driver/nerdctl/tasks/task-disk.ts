import { chmod, mkdir, readdir, rename, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../remove-tree.js';
import { runTool, ToolFailure } from '../../../run-tool.js';
import { grantFolder, reclaimFolder, unfinishedOf } from '../../code-folder.js';
import { DriverError } from '../../driver-error.js';
import { DiskImage } from '../disk-image.js';

/** ext4 needs this much to store anything at all. */
const LEAST_FREE_BYTES = 64 * 1024;
/** Without owners, which the folder gets afterwards, and without extended attributes, which only the task could have set. */
const COPY = ['-R', '-d', '--preserve=mode,timestamps,links'];
const NO_SPACE = /No space left on device/;
const TOO_LONG = /File name too long/;

interface HostUser {
  readonly uid: number;
  readonly gid: number;
}

/** Everything that a task can write to: a file system of its own, which ends where the task's disk limit is. */
export interface TaskDisk {
  /** Folders of the host. */
  readonly code: string;
  readonly tmp: string;
  /** The user of the task's processes, as the host sees it. */
  readonly owner: HostUser;
  isFull(): Promise<boolean>;
  /** Replaces the folder by what the task has made of it, readable for agents. Call it when no process of the task is left. */
  handBack(folder: string): Promise<void>;
}

/** The disks of the tasks of this host. They end with their tasks. */
export class TaskDisks {
  constructor(
    /** Each task has a folder below. */
    private readonly folder: string,
    /** The id on the host of user 0 of a task. */
    private readonly ids: HostUser,
  ) {}

  /** A new disk with a copy of the folder for that user inside. Undefined: the folder does not fit. */
  async create(
    taskId: string,
    folder: string,
    bytes: number,
    inside: HostUser,
  ): Promise<TaskDisk | undefined> {
    await this.release(taskId);
    const mount = this.#mountPointOf(taskId);
    await mkdir(mount, { recursive: true, mode: 0o700 });
    await this.#imageOf(taskId).mount(bytes);
    await chmod(mount, 0o700);
    const [code, tmp] = [join(mount, 'code'), join(mount, 'tmp')];
    await mkdir(tmp);
    const fits = await copyFolder(folder, code).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ToolFailure && NO_SPACE.test(error.complaint)) return false;
        throw error;
      },
    );
    if (!fits) return undefined;
    const owner = { uid: this.ids.uid + inside.uid, gid: this.ids.gid + inside.gid };
    for (const own of [code, tmp]) await grantFolder(own, owner);
    return {
      code,
      tmp,
      owner,
      async isFull() {
        const { bavail, bsize, ffree } = await statfs(mount);
        return ffree === 0 || bavail * bsize < LEAST_FREE_BYTES;
      },
      async handBack(target) {
        await reclaimFolder(code, owner);
        await replaceFolder(target, code);
      },
    };
  }

  /** A folder of the host for files that belong to the task, outside of its disk. Exists while its disk does. */
  folderOf(taskId: string): string {
    return join(this.folder, taskId);
  }

  /** Deletes the disk of a task that has no processes. A no-op if there is none. Errors: `box_stuck`. */
  async release(taskId: string): Promise<void> {
    await this.#imageOf(taskId).remove();
    await removeTree(this.folderOf(taskId));
  }

  /** Deletes the disks that an earlier process of this host has left. */
  async releaseAll(): Promise<void> {
    for (const taskId of await readdir(this.folder).catch(() => [])) await this.release(taskId);
  }

  #imageOf(taskId: string): DiskImage {
    return new DiskImage(join(this.folderOf(taskId), 'disk.ext4'), this.#mountPointOf(taskId), this.ids);
  }

  #mountPointOf(taskId: string): string {
    return join(this.folderOf(taskId), 'disk');
  }
}

/** `to` does not exist yet. Errors: `spec_unsupported` for a tree that is deeper than a copy can be. */
const copyFolder = async (folder: string, to: string): Promise<void> => {
  try {
    await runTool('cp', [...COPY, '-T', folder, to]);
  } catch (error) {
    if (!(error instanceof ToolFailure && TOO_LONG.test(error.complaint))) throw error;
    throw new DriverError('spec_unsupported', 'The code has paths that are longer than 4,096 bytes.');
  }
};

/** Replaces a folder by a copy of the other. Leaves nothing of a copy that fails, such as on a full disk of the host. */
const replaceFolder = async (folder: string, by: string): Promise<void> => {
  const next = unfinishedOf(folder);
  try {
    await removeTree(next);
    await copyFolder(by, next);
    await removeTree(folder);
    await rename(next, folder);
  } catch (error) {
    await removeTree(next);
    throw error;
  }
};
