import { backoff, pause } from './backoff.js';
import type { Database } from './database.js';
import type { DedicatedConnection } from './dedicated-connection.js';
import { lockKey } from './lock-key.js';
import type { DatabaseLog } from './log.js';

/** How often a process that does not hold the lock tries to acquire it. */
const ASK_AGAIN_MS = 500;

const ANSWER_MS = 3_000;

/** Mutual exclusion across the processes of a cluster. */
export class AdvisoryLock {
  /**
   * Runs `work(held)` while holding the advisory lock of that name, on a connection of its own; a database grants the
   * lock to one session at a time. `held` aborts when the lock is lost or `signal` aborts. The work must then end soon,
   * and must not rely on the lock alone for what it writes (fence writes by a compare-and-set). When the lock is lost
   * or `work` throws, everything starts over after a backoff. Ends when `work` resolves or `signal` aborts; never
   * throws.
   */
  static async run(
    database: Database,
    name: string,
    work: (held: AbortSignal) => Promise<void>,
    options: { signal: AbortSignal; log: DatabaseLog },
  ): Promise<void> {
    const { signal, log } = options;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const began = Date.now();
      try {
        if (await attemptOnce(database, name, work, signal)) return;
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
  signal: AbortSignal,
): Promise<boolean> => {
  const connection = await database.connect({ heartbeat: true });
  try {
    if (!(await acquire(connection, lockKey(name), signal))) return signal.aborted;
    await work(AbortSignal.any([signal, connection.closed]));
    return !connection.closed.aborted || signal.aborted;
  } finally {
    // Ending the session releases the lock too, but a little later.
    if (!connection.closed.aborted) {
      await connection.query('SELECT pg_advisory_unlock_all()', [], ANSWER_MS).catch(() => undefined);
    }
    await connection.close();
  }
};

const acquire = async (
  connection: DedicatedConnection,
  key: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const stop = AbortSignal.any([signal, connection.closed]);
  while (!stop.aborted) {
    const [row] = await connection.query<{ held: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS held',
      [key],
      ANSWER_MS,
    );
    if (row?.held === true) return true;
    await pause(ASK_AGAIN_MS, stop);
  }
  return false;
};
