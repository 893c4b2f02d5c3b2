import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { removeTree } from '../../remove-tree.js';
import type { Cover } from './launch-script.js';

/** A folder of the host in which every user can create files. */
export interface SharedFolder {
  readonly path: string;
  readonly kind: 'disk' | 'memory' | 'queues';
}

const USUAL: readonly SharedFolder[] = [
  { path: '/tmp', kind: 'disk' },
  { path: '/var/tmp', kind: 'disk' },
  { path: '/run/lock', kind: 'disk' },
  { path: '/dev/shm', kind: 'memory' },
  { path: '/dev/mqueue', kind: 'queues' },
];
const OTHERS_WRITE = 0o002;
/** Everyone creates files, and changes only their own. */
const SHARED_MODE = 0o1777;

/** The shared folders that this host has, each once. */
export const findSharedFolders = async (): Promise<readonly SharedFolder[]> => {
  const found = new Map<string, SharedFolder>();
  for (const { path, kind } of USUAL) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || found.has(real)) continue;
    if (((await stat(real)).mode & OTHERS_WRITE) !== 0) found.set(real, { path: real, kind });
  }
  return [...found.values()];
};

/**
 * Replaces the folder by empty ones for those that the agent sees in place of the shared ones. Folders in memory hold half of
 * the agent's memory at most. Agents own none of them, so that they cannot rename what Berth mounts in them.
 */
export const prepareCovers = async (
  shared: readonly SharedFolder[],
  folder: string,
  memoryBytes: number,
): Promise<readonly Cover[]> => {
  await removeTree(folder);
  await mkdir(folder, { mode: 0o700 });
  return Promise.all(
    shared.map(async ({ path, kind }): Promise<Cover> => {
      if (kind === 'queues') return { at: path, type: 'mqueue', options: 'nosuid,nodev,noexec' };
      if (kind === 'memory') {
        const size = Math.floor(memoryBytes / 2);
        return { at: path, type: 'tmpfs', options: `nosuid,nodev,mode=1777,size=${size}` };
      }
      const from = join(folder, relative('/', path).replaceAll('/', '-'));
      await mkdir(from);
      await chmod(from, SHARED_MODE);
      return { at: path, from };
    }),
  );
};

/**
 * The folders that must stay reachable at their paths although a shared folder above them is covered: `folder`, and, of the
 * program, the whole entry of the shared folder, because a program needs more than its main file.
 */
export const keptBelow = async (
  shared: readonly SharedFolder[],
  folder: string,
  program: string,
): Promise<readonly string[]> => {
  const kept = new Set<string>();
  const [own, main] = await Promise.all([realpath(folder), realpath(program)]);
  for (const { path } of shared) {
    if (isBelow(path, own)) kept.add(own);
    if (isBelow(path, main)) kept.add(entryOf(path, main));
  }
  return [...kept].filter((one) => ![...kept].some((other) => isBelow(other, one)));
};

const isBelow = (folder: string, path: string): boolean => path.startsWith(`${folder}/`);

/** The entry of the folder that leads to the path. */
const entryOf = (folder: string, path: string): string =>
  dirname(path) === folder ? path : entryOf(folder, dirname(path));
