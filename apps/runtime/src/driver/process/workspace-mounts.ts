import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { agentFolders } from '../../agent/agent-folders.js';
import { diskBytes } from '../../disk-bytes.js';
import { removeTree } from '../../remove-tree.js';
import type { InsidePaths, RunAs } from '../driver.js';
import { ownMounts, type Launch } from './launch-script.js';
import { SharedFiles } from '../shared-files.js';

/**
 * Mount point of an agent's private view. On the host it is an empty folder that must stay: deleting it would remove
 * the mounts on it from every agent's view.
 */
const VIEW_ROOT = '/run/berth';
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The prepared paths and mounts of an agent. */
export interface Workspace {
  readonly inside: InsidePaths;
  readonly view: Launch['view'];
}

/** The prepared paths and mounts of a task. */
export interface TaskWorkspace {
  readonly inside: Pick<InsidePaths, 'code' | 'tmp' | 'path'>;
  readonly view: Launch['view'];
  /** The task's folder for temporary files, on the host. */
  readonly home: string;
}

/**
 * Prepares an agent's folders and mounts. The data folder is closed to other users (0700), but the agent's own user
 * must reach its volume. As root, each agent therefore gets a mount namespace with its volume at a public path. Where
 * the host allows no namespaces, volumes are in a traversable folder outside the data folder.
 */
export class WorkspaceMounts {
  private constructor(
    private readonly dataDir: string,
    private readonly mode: 'view' | 'outside' | 'own',
    private readonly outside: string,
    private readonly shared: SharedFiles,
  ) {}

  /** `asRoot`: each agent has its own user. `useViews` false avoids mount namespaces even if they are available. */
  static async open(options: {
    readonly dataDir: string;
    readonly asRoot: boolean;
    readonly useViews: boolean;
    readonly outside: string;
  }): Promise<WorkspaceMounts> {
    const { dataDir, asRoot, useViews, outside } = options;
    const mode = !asRoot ? 'own' : useViews && (await canMount()) ? 'view' : 'outside';
    const sharedIn = mode === 'outside' ? join(outside, 'shared') : join(dataDir, 'shared');
    await mkdir(join(dataDir, 'agents'), { recursive: true, mode: 0o700 });
    if (mode === 'outside') await mkdir(outside, { recursive: true, mode: 0o755 });
    return new WorkspaceMounts(dataDir, mode, outside, new SharedFiles(sharedIn, mode === 'outside'));
  }

  /** Creates missing folders and empties the folder for temporary files. */
  async prepare(
    agentId: string,
    code: { readonly folder: string; readonly built: boolean },
    runAs: RunAs | null,
  ): Promise<Workspace> {
    const { volume, tmp, staging } = this.#ownFolders(agentId);
    await Promise.all([removeTree(tmp), removeTree(staging)]);
    for (const folder of [volume, tmp, staging]) {
      await mkdir(dirname(folder), { recursive: true, mode: this.mode === 'outside' ? 0o755 : 0o700 });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (runAs !== null && folder !== staging) await chown(folder, runAs.uid, runAs.gid);
    }
    return this.#see({ volume, tmp, storage: { volume, staging } }, code.folder, code.built);
  }

  /** The task finds its folder where an agent finds its code. */
  async prepareTask(taskId: string, folder: string, runAs: RunAs | null): Promise<TaskWorkspace> {
    const { tmp: home } = this.#ownFolders(taskId);
    await removeTree(home);
    await mkdir(dirname(home), { recursive: true, mode: this.mode === 'outside' ? 0o755 : 0o700 });
    await mkdir(home, { mode: 0o700 });
    if (runAs !== null) await chown(home, runAs.uid, runAs.gid);
    // Their users pass through the folders above the code.
    if (this.mode === 'outside')
      for (const above of [dirname(folder), dirname(dirname(folder))]) await chmod(above, 0o755);
    const own = { volume: home, tmp: home, storage: { volume: home, staging: home } };
    const { inside, view } = await this.#see(own, folder, 'writable');
    return { inside, view, home };
  }

  async removeTask(taskId: string): Promise<void> {
    await removeTree(dirname(this.#ownFolders(taskId).tmp));
  }

  /** Below the data folder of the agent, or where its user can reach it. */
  codeFolder(agentId: string, deploymentId: string): string {
    const root =
      this.mode === 'outside' ? join(this.outside, agentId) : agentFolders(this.dataDir, agentId).root;
    return join(root, 'versions', deploymentId);
  }

  async volumeBytes(agentId: string): Promise<number> {
    return diskBytes(this.#ownFolders(agentId).volume);
  }

  /** Deletes the agent's volume and temporary files. */
  async remove(agentId: string): Promise<void> {
    const { volume, tmp, staging } = this.#ownFolders(agentId);
    for (const folder of [volume, tmp, staging]) await removeTree(folder);
    await removeTree(
      this.mode === 'outside'
        ? join(this.outside, agentId)
        : join(agentFolders(this.dataDir, agentId).root, 'versions'),
    );
  }

  /** `built`: the folder is a version's, which every user can reach where that is needed. */
  async #see(
    own: Pick<InsidePaths, 'volume' | 'tmp' | 'storage'>,
    code: string,
    built: boolean | 'writable',
  ): Promise<Workspace> {
    const node = process.execPath;
    if (this.mode === 'own') {
      return {
        view: null,
        inside: { ...own, code, path: `${dirname(node)}:${SYSTEM_PATH}` },
      };
    }
    const [files, runtime] = await Promise.all([
      built === false ? this.shared.share(code) : code,
      this.shared.share(node),
    ]);
    if (this.mode === 'outside') {
      return {
        view: null,
        inside: { ...own, code: files, path: `${dirname(runtime)}:${SYSTEM_PATH}` },
      };
    }
    const inside = {
      volume: `${VIEW_ROOT}/volume`,
      tmp: `${VIEW_ROOT}/tmp`,
      code: `${VIEW_ROOT}/template`,
      path: `${VIEW_ROOT}/bin:${SYSTEM_PATH}`,
      // Host paths, not view paths: a rename cannot cross mounts.
      storage: own.storage,
    };
    await mkdir(VIEW_ROOT, { recursive: true, mode: 0o755 });
    const mounts = [
      { from: own.volume, to: inside.volume, kind: 'folder', readOnly: false },
      { from: own.tmp, to: inside.tmp, kind: 'folder', readOnly: false },
      { from: files, to: inside.code, kind: 'folder', readOnly: built !== 'writable' },
      { from: runtime, to: `${VIEW_ROOT}/bin/${basename(node)}`, kind: 'file', readOnly: true },
    ] as const;
    return { inside, view: { root: VIEW_ROOT, mounts } };
  }

  #ownFolders(agentId: string): { volume: string; tmp: string; staging: string } {
    if (this.mode !== 'outside') return agentFolders(this.dataDir, agentId);
    const root = join(this.outside, agentId);
    return { volume: join(root, 'volume'), tmp: join(root, 'tmp'), staging: join(root, 'staging') };
  }
}

const canMount = async (): Promise<boolean> => {
  try {
    await mkdir(VIEW_ROOT, { recursive: true, mode: 0o755 });
    const [command = '', ...args] = ownMounts('mount', '-t', 'tmpfs', '-o', 'size=64k', 'berth', VIEW_ROOT);
    const probe = spawn(command, args, { stdio: 'ignore' });
    const [code] = (await once(probe, 'exit')) as [number | null];
    if (code === 0) return true;
  } catch {
    // No permission or no such tools: agents run without private mounts.
  }
  return false;
};
