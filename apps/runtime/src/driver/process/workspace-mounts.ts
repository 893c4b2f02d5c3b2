import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { agentFolders } from '../../agent/agent-folders.js';
import { diskBytes, fileCount } from '../../disk-bytes.js';
import { removeTree } from '../../remove-tree.js';
import type { InsidePaths, RunAs } from '../driver.js';
import { inNamespaces, type Launch } from './launch-script.js';
import { findSharedFolders, keptBelow, prepareCovers, type SharedFolder } from './shared-folders.js';
import { SharedFiles } from '../shared-files.js';

/**
 * Mount point of an agent's private view. On the host it is an empty folder that must stay: deleting it would remove
 * the mounts on it from every agent's view.
 */
const VIEW_ROOT = '/run/berth';
/** `PATH` of commands, without the folder of Node. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A folder of the host with an agent's code; `built`: it is a version's, which every user can reach where that is needed. */
export interface CodeFolder {
  readonly folder: string;
  readonly built: boolean;
}

/** The prepared paths and mounts of an agent. */
export interface Workspace {
  readonly inside: InsidePaths;
  readonly view: Launch['view'];
  /** Node's path there, for the guest. */
  readonly node: string;
}

export interface WorkspaceOptions {
  readonly dataDir: string;
  /** The guest's main file. */
  readonly guestMain: string;
  /** Whether each agent has its own user. */
  readonly asRoot: boolean;
  /** False avoids mount namespaces even if they are available. */
  readonly useViews: boolean;
  /** Folder of volumes where the host allows no namespaces. */
  readonly outside: string;
}

/** What an agent's namespaces of its own are made of. */
interface Means {
  /** Options of `unshare`. */
  readonly namespaces: readonly string[];
  readonly shared: readonly SharedFolder[];
}

/** The prepared paths and mounts of a task. */
export interface TaskWorkspace {
  readonly inside: Pick<InsidePaths, 'code' | 'tmp' | 'path'>;
  readonly view: Launch['view'];
  /** Folders of the host in which the task can store something, apart from its code. */
  readonly stores: readonly string[];
}

/**
 * Prepares an agent's folders and mounts. The data folder is closed to other users (0700), but the agent's own user
 * must reach its volume. As root, each agent therefore gets a mount namespace with its volume at a public path, and with
 * folders of its own in place of those that all users share. Where the host allows no namespaces, volumes are in a
 * traversable folder outside the data folder.
 */
export class WorkspaceMounts {
  private constructor(
    private readonly options: WorkspaceOptions,
    /** null: no namespaces. */
    private readonly means: Means | null,
    private readonly shared: SharedFiles,
  ) {}

  static async open(options: WorkspaceOptions): Promise<WorkspaceMounts> {
    const { dataDir, asRoot, useViews, outside } = options;
    const means = asRoot && useViews ? await findMeans() : null;
    const isOutside = asRoot && means === null;
    const sharedIn = isOutside ? join(outside, 'shared') : join(dataDir, 'shared');
    await mkdir(join(dataDir, 'agents'), { recursive: true, mode: 0o700 });
    if (isOutside) await mkdir(outside, { recursive: true, mode: 0o755 });
    return new WorkspaceMounts(options, means, new SharedFiles(sharedIn, isOutside));
  }

  /** Whether agents see folders of their own in place of those that all users of the host share. */
  get coversSharedFolders(): boolean {
    return this.means !== null;
  }

  /** Creates missing folders and empties those for temporary files. Without code, the volume is its folder. */
  async prepare(
    agentId: string,
    code: CodeFolder | null,
    runAs: RunAs | null,
    memoryBytes: number,
  ): Promise<Workspace> {
    const { volume, tmp, staging } = this.#ownFolders(agentId);
    await Promise.all([removeTree(tmp), removeTree(staging)]);
    for (const folder of [volume, tmp, staging]) {
      await mkdir(dirname(folder), { recursive: true, mode: this.#isOutside ? 0o755 : 0o700 });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (runAs !== null && folder !== staging) await chown(folder, runAs.uid, runAs.gid);
    }
    const own = { volume, tmp, storage: { volume, staging } };
    return this.#see(agentId, own, code && { ...code, writable: false }, memoryBytes);
  }

  /** The task finds its folder where an agent finds its code. */
  async prepareTask(
    taskId: string,
    folder: string,
    runAs: RunAs | null,
    memoryBytes: number,
  ): Promise<TaskWorkspace> {
    const { tmp: home } = this.#ownFolders(taskId);
    await removeTree(home);
    await mkdir(dirname(home), { recursive: true, mode: this.#isOutside ? 0o755 : 0o700 });
    await mkdir(home, { mode: 0o700 });
    if (runAs !== null) await chown(home, runAs.uid, runAs.gid);
    // Their users pass through the folders above the code.
    if (this.#isOutside)
      for (const above of [dirname(folder), dirname(dirname(folder))]) await chmod(above, 0o755);
    const own = { volume: home, tmp: home, storage: { volume: home, staging: home } };
    const code = { folder, built: true, writable: true };
    const { inside, view } = await this.#see(taskId, own, code, memoryBytes);
    return { inside, view, stores: view === null ? [home] : [home, this.#covers(taskId)] };
  }

  async removeTask(taskId: string): Promise<void> {
    await removeTree(dirname(this.#ownFolders(taskId).tmp));
  }

  /** Below the data folder of the agent, or where its user can reach it. */
  codeFolder(agentId: string, deploymentId: string): string {
    const root = this.#isOutside
      ? join(this.options.outside, agentId)
      : agentFolders(this.options.dataDir, agentId).root;
    return join(root, 'versions', deploymentId);
  }

  async volumeBytes(agentId: string): Promise<number> {
    return diskBytes(this.#ownFolders(agentId).volume);
  }

  fileCount(agentId: string): Promise<number> {
    const { volume, tmp } = this.#ownFolders(agentId);
    return fileCount(volume, tmp, this.#covers(agentId));
  }

  /** Deletes the agent's volume and temporary files. */
  async remove(agentId: string): Promise<void> {
    const { volume, tmp, staging } = this.#ownFolders(agentId);
    for (const folder of [volume, tmp, staging, this.#covers(agentId)]) await removeTree(folder);
    await removeTree(
      this.#isOutside
        ? join(this.options.outside, agentId)
        : join(agentFolders(this.options.dataDir, agentId).root, 'versions'),
    );
  }

  async #see(
    id: string,
    own: Pick<InsidePaths, 'volume' | 'tmp' | 'storage'>,
    code: (CodeFolder & { readonly writable: boolean }) | null,
    memoryBytes: number,
  ): Promise<Workspace> {
    const node = process.execPath;
    const onHost = (files: string, runtime: string): Workspace => ({
      view: null,
      node,
      inside: { ...own, code: files, path: `${dirname(runtime)}:${SYSTEM_PATH}` },
    });
    if (!this.options.asRoot) return onHost(code?.folder ?? own.volume, node);
    const [files, runtime] = await Promise.all([
      code === null || code.built ? code?.folder : this.shared.share(code.folder),
      this.shared.share(node),
    ]);
    if (this.means === null) return onHost(files ?? own.volume, runtime);
    const inside = {
      volume: `${VIEW_ROOT}/volume`,
      tmp: `${VIEW_ROOT}/tmp`,
      code: files === undefined ? `${VIEW_ROOT}/volume` : `${VIEW_ROOT}/template`,
      path: `${VIEW_ROOT}/bin:${SYSTEM_PATH}`,
      // Host paths, not view paths: a rename cannot cross mounts.
      storage: own.storage,
    };
    await mkdir(VIEW_ROOT, { recursive: true, mode: 0o755 });
    const mounts = [
      { from: own.volume, to: inside.volume, kind: 'folder', readOnly: false },
      { from: own.tmp, to: inside.tmp, kind: 'folder', readOnly: false },
      ...(files === undefined || code === null
        ? []
        : [{ from: files, to: inside.code, kind: 'folder', readOnly: !code.writable } as const]),
      { from: runtime, to: `${VIEW_ROOT}/bin/${basename(node)}`, kind: 'file', readOnly: true },
    ] as const;
    const { namespaces, shared } = this.means;
    const covers = await prepareCovers(shared, this.#covers(id), memoryBytes);
    const { root } = agentFolders(this.options.dataDir, id);
    const kept = await keptBelow(shared, root, this.options.guestMain);
    const view = { namespaces, root: VIEW_ROOT, mounts, covers, kept };
    return { inside, view, node: `${VIEW_ROOT}/bin/${basename(node)}` };
  }

  #covers(id: string): string {
    return agentFolders(this.options.dataDir, id).covers;
  }

  get #isOutside(): boolean {
    return this.options.asRoot && this.means === null;
  }

  #ownFolders(agentId: string): { volume: string; tmp: string; staging: string } {
    const { dataDir, outside } = this.options;
    if (!this.#isOutside) return agentFolders(dataDir, agentId);
    const root = join(outside, agentId);
    return { volume: join(root, 'volume'), tmp: join(root, 'tmp'), staging: join(root, 'staging') };
  }
}

/** null: no permission, or no such tools. */
const findMeans = async (): Promise<Means | null> => {
  for (const namespaces of [['--mount', '--ipc'], ['--mount']])
    if (await canMountIn(namespaces)) return { namespaces, shared: await findSharedFolders() };
  return null;
};

const canMountIn = async (namespaces: readonly string[]): Promise<boolean> => {
  try {
    await mkdir(VIEW_ROOT, { recursive: true, mode: 0o755 });
    const mount = ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'berth', VIEW_ROOT];
    const [command = '', ...args] = inNamespaces(namespaces, ...mount);
    const probe = spawn(command, args, { stdio: 'ignore' });
    const [code] = (await once(probe, 'exit')) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
};
