import { createHash } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

/**
 * Makes host files readable for the agents' users, who own none of them: in place if the modes allow it, otherwise as a
 * copy. (A checkout under umask 077 has no files that other users can read.)
 */
export class SharedFiles {
  readonly #ready = new Map<string, Promise<string>>();

  /** `throughParents`: agents traverse the whole path from the root, so every parent folder must allow it. */
  constructor(
    private readonly folder: string,
    private readonly throughParents: boolean,
  ) {}

  /** A path with the content of `path` that every user can read. */
  async share(path: string): Promise<string> {
    const { mtimeMs, ino } = await stat(path);
    const key = createHash('sha256').update(`${path}\0${mtimeMs}\0${ino}`).digest('hex').slice(0, 16);
    const existing = this.#ready.get(key);
    if (existing !== undefined) return existing;
    const ready = this.#shareNow(path, join(this.folder, key, basename(path)));
    this.#ready.set(key, ready);
    ready.catch(() => this.#ready.delete(key));
    return ready;
  }

  async #shareNow(path: string, copy: string): Promise<string> {
    const passable = !this.throughParents || (await isTraversableByOthers(dirname(path)));
    if (passable && (await isOpen(path))) return path;
    const making = `${dirname(copy)}.next`;
    await rm(making, { recursive: true, force: true });
    await mkdir(making, { recursive: true, mode: 0o755 });
    const target = join(making, basename(path));
    await cp(path, target, { recursive: true, verbatimSymlinks: true });
    await openUp(target);
    await rm(dirname(copy), { recursive: true, force: true });
    await rename(making, dirname(copy));
    return copy;
  }
}

/** Whether users who own none of it can traverse the path down to that folder. */
export const isTraversableByOthers = async (folder: string): Promise<boolean> => {
  if (((await stat(folder)).mode & OTHERS_ENTER) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isTraversableByOthers(parent);
};

const isOpen = async (path: string): Promise<boolean> => {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return true;
  const needed = info.isDirectory() ? OTHERS_READ | OTHERS_ENTER : OTHERS_READ;
  if ((info.mode & needed) !== needed) return false;
  if (!info.isDirectory()) return true;
  for (const name of await readdir(path)) {
    if (!(await isOpen(join(path, name)))) return false;
  }
  return true;
};

/** Lets every user read a file or a folder with its content, and execute what its owner can. */
export const openUp = async (path: string): Promise<void> => {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return;
  const runnable = info.isDirectory() || (info.mode & 0o100) !== 0;
  await chmod(path, runnable ? 0o755 : 0o644);
  if (!info.isDirectory()) return;
  for (const name of await readdir(path)) await openUp(join(path, name));
};
