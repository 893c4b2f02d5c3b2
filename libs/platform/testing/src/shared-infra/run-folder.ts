import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Memory instead of a disk: the tests kill processes, not machines, so nothing they check depends on a flush. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;
/** Short, because the path of a Unix socket has at most 107 bytes. */
const NAME = /^b(\d+)n([0-9a-z]+)-/;

/**
 * Creates the folder for the temporary files of a run, and removes those of runs that were killed. Every user may use
 * it, like the system's own: agents run as other users.
 */
export const createRunFolder = (): string => {
  const parent = isRoomy(MEMORY) ? MEMORY : tmpdir();
  const namespace = pidNamespace();
  for (const name of readdirSync(parent)) {
    const [, pid, owner] = NAME.exec(name) ?? [];
    if (owner === namespace && !isAlive(Number(pid))) removeIfPossible(join(parent, name));
  }
  const folder = mkdtempSync(join(parent, `b${process.pid}n${namespace}-`));
  chmodSync(folder, 0o1777);
  return folder;
};

/** Containers may share the folder; a process of another one looks as if it had ended. */
const pidNamespace = (): string => {
  try {
    const inode = Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0);
    return (inode % 36 ** 4).toString(36);
  } catch {
    return '0';
  }
};

/** Another run may be removing it, or a process that was left behind may still use it. */
const removeIfPossible = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    return;
  }
};

const isRoomy = (folder: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ENOUGH_BYTES && mayExecuteIn(folder);
  } catch {
    return false;
  }
};

/** Agents run programs that lie in their data. */
const mayExecuteIn = (folder: string): boolean => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.findLast((line) => line.split(' ')[1] === folder)?.split(' ')[3];
  return options !== undefined && !options.split(',').includes('noexec');
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
