import { pause } from '@berth/supervision';
import type { DedicatedConnection } from './dedicated-connection.js';
import type { SessionLease, SharedSession } from './shared-session.js';

/** How often a process asks for the locks that other processes hold. */
const ASK_AGAIN_MS = 500;

/** Below the limit of the heartbeat, so that no statement of the locks delays the detection of a loss. */
const ANSWER_MS = 3_000;

/** A lock that this process holds. */
export interface HeldLock {
  /** Aborts when the connection that holds the lock is lost. */
  readonly lost: AbortSignal;
  /** Never throws. */
  release(): Promise<void>;
}

interface Waiter {
  readonly key: string;
  readonly granted: (lock: HeldLock) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Acquires advisory locks on the shared session: one statement asks for all keys that this process waits for. A session
 * that holds a lock would be granted it again, so a key that this process holds waits for its release.
 */
export class LockQueue {
  readonly #waiting = new Set<Waiter>();
  readonly #held = new Set<string>();
  #wake = new AbortController();
  #asking = false;

  constructor(private readonly session: SharedSession) {}

  /** Resolves to undefined when `signal` aborts first; rejects when the connection fails. */
  acquire(key: string, signal: AbortSignal): Promise<HeldLock | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', stop);
      };
      const stop = (): void => {
        leave();
        resolve(undefined);
        this.#askNow();
      };
      const waiter: Waiter = {
        key,
        granted: (lock) => {
          leave();
          resolve(lock);
        },
        failed: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiter);
      this.#askNow();
    });
  }

  #askNow(): void {
    this.#wake.abort();
    if (!this.#asking) void this.#askWhileAwaited();
  }

  async #askWhileAwaited(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.size > 0) {
      try {
        await this.#askOnOneConnection();
      } catch (error) {
        for (const waiter of [...this.#waiting]) waiter.failed(error);
      }
    }
    this.#asking = false;
  }

  async #askOnOneConnection(): Promise<void> {
    const lease = await this.session.lease();
    const { connection } = lease;
    try {
      do {
        this.#wake = new AbortController();
        await this.#ask(lease);
        if (this.#waiting.size > 0)
          await pause(ASK_AGAIN_MS, AbortSignal.any([this.#wake.signal, connection.closed]));
      } while (this.#waiting.size > 0 && !connection.closed.aborted);
    } finally {
      await lease.release();
    }
  }

  async #ask(lease: SessionLease): Promise<void> {
    const { connection } = lease;
    const keys = new Set([...this.#waiting].map(({ key }) => key).filter((key) => !this.#held.has(key)));
    if (keys.size === 0) return;
    const granted = await onlyInTime(connection, () =>
      connection.query<{ key: string }>(
        'SELECT key FROM unnest($1::bigint[]) AS asked (key) WHERE pg_try_advisory_lock(key)',
        [[...keys]],
        ANSWER_MS,
      ),
    );
    for (const { key } of granted) {
      this.#held.add(key);
      await this.#grant(key, this.#lockOn(lease.share(), key));
    }
  }

  async #grant(key: string, lock: HeldLock): Promise<void> {
    const waiter = [...this.#waiting].find((waiting) => waiting.key === key);
    if (waiter === undefined) await lock.release();
    else waiter.granted(lock);
  }

  #lockOn(lease: SessionLease, key: string): HeldLock {
    const { connection } = lease;
    const release = async (): Promise<void> => {
      const unlock = (): Promise<unknown> =>
        connection.query('SELECT pg_advisory_unlock($1)', [key], ANSWER_MS);
      // The end of the session releases the lock too.
      if (!connection.closed.aborted) await onlyInTime(connection, unlock).catch(() => undefined);
      this.#held.delete(key);
      this.#askNow();
      await lease.release();
    };
    return { lost: connection.closed, release };
  }
}

/** Closes the connection if the statement fails: whether it took or released the lock is then unknown. */
const onlyInTime = async <T>(connection: DedicatedConnection, statement: () => Promise<T>): Promise<T> => {
  try {
    return await statement();
  } catch (error) {
    void connection.close();
    throw error;
  }
};
