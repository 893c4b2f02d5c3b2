import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Memory instead of a disk: the tests kill processes, not machines, so nothing they check depends on a flush. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;
/** Short, because the path of a Unix socket has at most 107 bytes. */
const NAME = /^b(\d+)-/;

/**
 * Creates the folder for the temporary files of a run, and removes those of runs that were killed. Every user may use
 * it, like the system's own: agents run as other users.
 */
export const createRunFolder = (): string => {
  const parent = isRoomy(MEMORY) ? MEMORY : tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeIfPossible(join(parent, name));
  }
  const folder = mkdtempSync(join(parent, `b${process.pid}-`));
  chmodSync(folder, 0o1777);
  return folder;
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
