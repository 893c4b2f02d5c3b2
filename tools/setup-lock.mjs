import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

// Plain JavaScript for Node 18 and newer, built-in modules only: this runs before anything is installed.

/**
 * Runs `work` while it holds the lock file, so that only one process on this machine does so at a time. Waits for the
 * lock, and takes over a lock whose process is gone.
 *
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {() => void} onWait called once if another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(file, work, onWait) {
  const own = `${process.pid} ${startOf(process.pid)}`;
  let notified = false;
  while (!take(file, own)) {
    if (removeIfDead(file)) continue;
    if (!notified) onWait();
    notified = true;
    await delay(200);
  }
  const release = () => {
    if (read(file) === own) rmSync(file, { force: true });
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function take(file, own) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, own);
  try {
    // A link is created atomically, so no process reads a lock file without an owner.
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeIfDead(file) {
  const holder = read(file);
  if (holder === undefined || isAlive(holder)) return holder === undefined;
  const aside = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return true;
  }
  // Another process may have taken the lock between our read and our rename: it gets the lock back.
  if (read(aside) !== holder) {
    try {
      linkSync(aside, file);
    } catch {
      // A third process holds it by now.
    }
  }
  rmSync(aside, { force: true });
  return true;
}

function isAlive(holder) {
  const [pid, start] = holder.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  return start === startOf(Number(pid));
}

/** The start time of a process, to distinguish it from a later one with the same id; "unknown" without /proc. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
