import { chmod, chown, lstat, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { SubordinateIds } from '@berth/host-requirements';
import { agentFolders } from '../../agent/agent-folders.js';
import { removeTree } from '../../remove-tree.js';
import { runTool } from '../../run-tool.js';
import type { GuestFolders } from '../box-spec.js';
import type { PromisedDisk } from '../driver.js';
import { DiskImage } from './disk-image.js';
import type { UserIds } from './image-user.js';
import { mountPointsBelow } from './mount-points.js';
import { DISK } from './paths-inside.js';

/** Unit of `Stats.blocks`. */
const BLOCK_BYTES = 512;

/** The agents' volumes, each a file system of its own, with owners as the user namespace maps them. */
export class AgentDisks {
  private constructor(
    private readonly dataDir: string,
    private readonly ids: SubordinateIds,
  ) {}

  static async open(dataDir: string, ids: SubordinateIds): Promise<AgentDisks> {
    return new AgentDisks(await realpath(dataDir), ids);
  }

  /**
   * Mounts the agent's disk, which has at least `bytes`, and empties the staging folder. `guest`: the user of its guest
   * inside. Returns the mount point.
   */
  async mount(agentId: string, bytes: number, guest: number): Promise<string> {
    const disk = this.#mountPointOf(agentId);
    await mkdir(disk, { recursive: true, mode: 0o700 });
    await this.#imageOf(agentId).mount(bytes);
    const [volume, staging] = [join(disk, DISK.volume), join(disk, DISK.staging)];
    await removeTree(staging);
    for (const folder of [volume, staging]) await mkdir(folder, { recursive: true, mode: 0o700 });
    const [uid, gid] = [this.ids.uid + guest, this.ids.gid + guest];
    // A new file system's own folder is open to all, and the agent must not reach the staging folder.
    await chmod(disk, 0o700);
    for (const folder of [disk, staging]) await chown(folder, uid, gid);
    return disk;
  }

  /**
   * The folder, on the agent's disk, that keeps what the agent writes to its root file system, for `layOver`. One that was
   * kept under another key is deleted. null: deletes it and returns null.
   */
  async rootLayer(agentId: string, key: string | null): Promise<string | null> {
    const roots = join(this.#mountPointOf(agentId), DISK.root);
    for (const name of await readdir(roots).catch(() => [])) {
      if (name !== key) await removeTree(join(roots, name));
    }
    if (key === null) return null;
    const layer = join(roots, key);
    const files = join(layer, 'fs');
    await mkdir(roots, { recursive: true, mode: 0o700 });
    for (const folder of [layer, join(layer, 'work')]) await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await mkdir(files, { recursive: true })) !== undefined) {
      await chmod(files, 0o755);
      await chown(files, this.ids.uid, this.ids.gid);
    }
    return layer;
  }

  /**
   * Gives the agent's volume, which is mounted, to the user that the agent's processes will be, with everything that
   * belonged to the user before.
   */
  async giveVolume(agentId: string, user: UserIds): Promise<void> {
    const volume = join(this.#mountPointOf(agentId), DISK.volume);
    const { uid: before } = await lstat(volume);
    const [uid, gid] = [this.ids.uid + user.uid, this.ids.gid + user.gid];
    if (before === uid) return;
    await chown(volume, uid, gid);
    if (before >= this.ids.uid) await changeOwner([volume], [`--from=${before}`, `${uid}:${gid}`]);
  }

  /** A no-op if it is not mounted. Errors: `box_stuck`. */
  unmount(agentId: string): Promise<void> {
    return this.#imageOf(agentId).unmount();
  }

  /** Unmounts it, and waits until the kernel has released it. A no-op if it is not mounted. Errors: `box_stuck`. */
  release(agentId: string): Promise<void> {
    return this.#imageOf(agentId).release();
  }

  /** Unmounts the disks of all agents but those. */
  async unmountAll(except: ReadonlySet<string>): Promise<void> {
    const agents = join(this.dataDir, 'agents');
    // One look at the mounts: of thousands of agents, few are awake.
    const points = mountPointsBelow(await readFile('/proc/self/mountinfo', 'utf8'), agents);
    const mounted = new Set(points.map((point) => relative(agents, point).split('/')[0] ?? ''));
    for (const agentId of mounted) if (!except.has(agentId)) await this.unmount(agentId);
  }

  async remove(agentId: string): Promise<void> {
    await this.#imageOf(agentId).remove();
    await removeTree(this.#mountPointOf(agentId));
  }

  /** What the disk takes on the host; the image is sparse. */
  async storedBytes(agentId: string): Promise<number> {
    return (await this.#imageSizes(agentId)).storedBytes;
  }

  /** Of all agents of this host. */
  async promised(): Promise<PromisedDisk> {
    let [promised, stored] = [0, 0];
    for (const agentId of await readdir(join(this.dataDir, 'agents')).catch(() => [])) {
      const { promisedBytes, storedBytes } = await this.#imageSizes(agentId);
      promised += promisedBytes;
      stored += storedBytes;
    }
    return { promisedBytes: promised, storedBytes: stored };
  }

  async #imageSizes(agentId: string): Promise<PromisedDisk> {
    const image = await lstat(join(agentFolders(this.dataDir, agentId).root, 'disk.ext4')).catch(
      () => undefined,
    );
    return { promisedBytes: image?.size ?? 0, storedBytes: (image?.blocks ?? 0) * BLOCK_BYTES };
  }

  /** Gives the guest's folders to the guest, with the lines that the host has written to its log. */
  async handOver({ run, logs, journal }: GuestFolders, guest: number): Promise<void> {
    await changeOwner([run, logs, journal], [`${this.ids.uid + guest}:${this.ids.gid + guest}`]);
  }

  #imageOf(agentId: string): DiskImage {
    return new DiskImage(
      join(agentFolders(this.dataDir, agentId).root, 'disk.ext4'),
      this.#mountPointOf(agentId),
      this.ids,
    );
  }

  #mountPointOf(agentId: string): string {
    return join(agentFolders(this.dataDir, agentId).root, 'disk');
  }
}

/** Changes the owner of the folders with everything in them; follows no symbolic link. */
const changeOwner = async (folders: readonly string[], options: readonly string[]): Promise<void> => {
  await runTool('chown', ['-R', '-h', '-P', ...options, '--', ...folders]);
};
