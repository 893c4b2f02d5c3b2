import type { DomainError } from '@berth/kernel';
import { serviceUnavailable, mapDatabaseError } from './connection-errors.js';
import type { Database } from './database.js';
import { lockKey } from './lock-key.js';
import type { LockOptions } from './lock-queue.js';

/** Mutual exclusion across the processes of a cluster, and within each. */
export class AdvisoryLock {
  /**
   * Waits for the advisory lock of that name, and runs `work(held)` while holding it; one run at a time holds it, also
   * among the runs of one process. All locks of a `Database` are on one connection, so its loss loses all of them.
   * `held` aborts when the lock is lost or `signal` aborts. The work must then end soon, and must not rely on the lock
   * alone for what it writes (fence writes by a compare-and-set). Resolves to what `work` returns, or to undefined when
   * `signal` aborts before the lock is free. Throws what `work` throws, or `DomainError('unavailable', …)` when the
   * lock was lost or the database is down. Without `brief`, one process leads: it takes every free lock of the service
   * that it waits for, and another process gets a lock only if the leader does not wait for it.
   */
  static async hold<T>(
    database: Database,
    name: string,
    signal: AbortSignal,
    work: (held: AbortSignal) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T | undefined> {
    const lock = await database.acquireLock(lockKey(name), signal, options).catch((error: unknown) => {
      throw mapDatabaseError(error);
    });
    if (lock === undefined) return undefined;
    const isLost = (): boolean => lock.lost.aborted && !signal.aborted;
    try {
      const result = await work(AbortSignal.any([signal, lock.lost]));
      if (isLost()) throw lost(name);
      return result;
    } catch (error) {
      throw isLost() ? lost(name, error) : error;
    } finally {
      await lock.release();
    }
  }
}

const lost = (name: string, cause?: unknown): DomainError =>
  serviceUnavailable(new Error(`The advisory lock ${name} was lost.`, { cause }));
