import { backoff, pause } from '@berth/supervision';
import type { Database } from './database.js';
import { lockKey } from './lock-key.js';
import type { LockOptions } from './lock-queue.js';
import type { DatabaseLog } from './log.js';

/** Mutual exclusion across the processes of a cluster, and within each. */
export class AdvisoryLock {
  /**
   * Runs `work(held)` while holding the advisory lock of that name; one run at a time holds it, also among the runs of
   * one process. All locks of a `Database` are on one connection, so its loss loses all of them. `held` aborts when the
   * lock is lost or `signal` aborts. The work must then end soon, and must not rely on the lock alone for what it
   * writes (fence writes by a compare-and-set). When the lock is lost or `work` throws, everything starts over after a
   * backoff. Without `brief`, one process takes all locks of the service that are free, and another process gets such a
   * lock only if that one does not want it. Ends when `work` resolves or `signal` aborts; never throws.
   */
  static async run(
    database: Database,
    name: string,
    work: (held: AbortSignal) => Promise<void>,
    options: LockOptions & { signal: AbortSignal; log: DatabaseLog },
  ): Promise<void> {
    const { signal, log } = options;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const began = Date.now();
      try {
        if (await attemptOnce(database, name, work, options)) return;
        log.warn({ lock: name }, 'advisory lock was lost');
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error, lock: name }, 'work under an advisory lock failed, retrying');
      }
      if (Date.now() - began > 30_000) attempt = 0;
      await pause(backoff(attempt), signal);
    }
  }
}

/** Returns true when the work is done or was cancelled, false when the lock was lost before that. */
const attemptOnce = async (
  database: Database,
  name: string,
  work: (held: AbortSignal) => Promise<void>,
  { signal, ...options }: LockOptions & { signal: AbortSignal },
): Promise<boolean> => {
  const lock = await database.acquireLock(lockKey(name), signal, options);
  if (lock === undefined) return true;
  try {
    await work(AbortSignal.any([signal, lock.lost]));
    return !lock.lost.aborted || signal.aborted;
  } finally {
    await lock.release();
  }
};
