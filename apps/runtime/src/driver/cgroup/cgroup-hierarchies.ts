import { access, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupMounts, type CgroupMount } from '@berth/host-requirements';
import { becomesTrue } from '../../poll.js';
import { makeGroup } from './make-group.js';

/** `cpuacct` counts processor time; in version 2 every group does. */
export type Controller = 'memory' | 'pids' | 'cpuacct';

/** A mounted cgroup hierarchy and the folder in it whose subfolders are the groups of the boxes. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly folder: string;
  /** What the groups of this hierarchy limit and count. */
  readonly controllers: readonly Controller[];
  /** Whether this hierarchy freezes processes; exactly one does. */
  readonly freezes: boolean;
}

/** The kernel releases a group shortly after its last process. */
const RELEASED_WITHIN_MS = 500;
const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpuacct'];

/**
 * The hierarchies in which this process can create groups below a group named `name`: one that freezes (preferably
 * version 2, whose freeze and kill are atomic, otherwise the version 1 freezer), and those that limit memory and
 * processes and count processor time. `[]` if none can freeze.
 */
export const openHierarchies = async (
  name: string,
  prefer: 'v2' | 'v1' = 'v2',
  mountsFile = '/proc/mounts',
): Promise<readonly Hierarchy[]> => {
  const mounts = cgroupMounts(await readFile(mountsFile, 'utf8').catch(() => ''));
  const [v2] = mounts.filter(({ version }) => version === 2);
  const v1Freezer = mounts.find(
    ({ version, controllers }) => version === 1 && controllers.includes('freezer'),
  );
  const candidates = prefer === 'v2' ? [v2, v1Freezer] : [v1Freezer, v2];
  for (const candidate of candidates) {
    if (candidate === undefined || !(await canFreeze(candidate, name))) continue;
    const freezing = await openFreezing(candidate, name);
    const opened = [freezing];
    // One after the other, because a hierarchy that is mounted in several places has to be used only once.
    for (const mount of mounts.filter((other) => other !== candidate)) {
      const missing = CONTROLLERS.filter(
        (one) => !opened.some(({ controllers }) => controllers.includes(one)),
      );
      const accounting = await openAccounting(mount, name, missing);
      if (accounting !== undefined) opened.push(accounting);
    }
    return opened;
  }
  return [];
};

/**
 * Removes the groups named `name` of all hierarchies, with those below them. One with processes stays: the kernel refuses
 * to remove it.
 */
export const removeHierarchies = async (name: string, mountsFile = '/proc/mounts'): Promise<void> => {
  const mounts = cgroupMounts(await readFile(mountsFile, 'utf8').catch(() => ''));
  await Promise.all(
    mounts.map(({ path }) => becomesTrue(() => removeGroup(join(path, name)), RELEASED_WITHIN_MS)),
  );
};

/** Removes a group with those below it. Returns whether it is gone: not if one of them has processes. */
export const removeGroup = async (folder: string): Promise<boolean> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(folder, entry.name));
  return rmdir(folder).then(
    () => true,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT',
  );
};

const canFreeze = async ({ version, path }: CgroupMount, name: string): Promise<boolean> => {
  const folder = join(path, name);
  try {
    await makeGroup(folder);
    await access(join(folder, version === 2 ? 'cgroup.freeze' : 'freezer.state'));
    return true;
  } catch {
    await rmdir(folder).catch(() => undefined);
    return false;
  }
};

const openFreezing = async (mount: CgroupMount, name: string): Promise<Hierarchy> => {
  const folder = join(mount.path, name);
  const controllers: readonly Controller[] =
    mount.version === 2 ? ['cpuacct', ...(await delegate(mount.path, folder))] : [];
  return { version: mount.version, folder, controllers, freezes: true };
};

/** In version 2 a group has a controller only if every ancestor delegates it. */
const delegate = async (root: string, folder: string): Promise<('memory' | 'pids')[]> => {
  const given: ('memory' | 'pids')[] = [];
  for (const controller of ['memory', 'pids'] as const) {
    try {
      await writeFile(join(root, 'cgroup.subtree_control'), `+${controller}`);
      await writeFile(join(folder, 'cgroup.subtree_control'), `+${controller}`);
      given.push(controller);
    } catch {
      // Another hierarchy has the controller, or we lack permission: agents run without this limit.
    }
  }
  return given;
};

const openAccounting = async (
  mount: CgroupMount,
  name: string,
  wanted: readonly Controller[],
): Promise<Hierarchy | undefined> => {
  const controllers = wanted.filter((controller) => mount.controllers.includes(controller));
  if (controllers.length === 0) return undefined;
  const folder = join(mount.path, name);
  return makeGroup(folder).then(
    () => ({ version: mount.version, folder, controllers, freezes: false }),
    () => undefined,
  );
};
