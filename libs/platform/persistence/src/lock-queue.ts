import { detach } from '@berth/kernel';
import { pause } from '@berth/supervision';
import type { DedicatedConnection } from './dedicated-connection.js';
import { LockPeers } from './lock-peers.js';
import type { Notices } from './notices.js';
import type { SessionLease, SharedSession } from './shared-session.js';

/** How often a process that holds a lock asks for the others that it waits for, on the connection that it has. */
const ASK_AGAIN_MS = 500;

/**
 * How often a process without a lock connects and asks: while a lock may be free, and while its holder announces it.
 */
const FREE_AGAIN_MS = 2_000;
const HELD_AGAIN_MS = 15_000;

/** The leading process does not wait for a lock that was free for this long. */
const UNWANTED_AFTER_MS = 3_000;

/** Below the limit of the heartbeat, so that no statement of the locks delays the detection of a loss. */
const STATEMENT_TIMEOUT_MS = 3_000;

/**
 * Takes the free locks that this process may take, and returns the other free ones. The leading process may take all of
 * them.
 */
const ASK = `
  WITH leader AS MATERIALIZED (SELECT pg_try_advisory_lock($2::bigint) AS leads)
  SELECT key, leads OR key = ANY ($3::bigint[]) AS taken
  FROM leader, unnest($1::bigint[]) AS asked (key)
  WHERE CASE WHEN leads OR key = ANY ($3::bigint[]) THEN pg_try_advisory_lock(key)
    ELSE pg_try_advisory_xact_lock(key) END`;

/** A lock that this process holds. */
export interface HeldLock {
  /** Aborts when the connection that holds the lock is lost. */
  readonly lost: AbortSignal;
  /** Never throws. */
  release(): Promise<void>;
}

/** Options of a lock. */
export interface LockOptions {
  /** The work is short, so that any process may do it at any time. */
  readonly brief?: boolean;
}

interface Waiter {
  readonly key: string;
  readonly brief: boolean;
  readonly granted: (lock: HeldLock) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Acquires advisory locks on the shared session: one statement asks for all keys that this process waits for.
 * PostgreSQL would grant a session a lock that it already holds, so waiters for a key of this process wait here for its
 * release.
 *
 * A process keeps the connection only while it holds a lock. So that the locks of a service need one connection and not
 * one in each process, the first process takes the lock `leaderKey` too and then takes every free lock at once; the
 * others take a lock only after the leader left it free for some seconds.
 */
export class LockQueue {
  readonly #waiting = new Set<Waiter>();
  readonly #held = new Map<string, DedicatedConnection>();
  readonly #freeSince = new Map<string, number>();
  readonly #peers: LockPeers;
  #wake = new AbortController();
  #asking = false;

  constructor(
    private readonly session: SharedSession,
    private readonly leaderKey: string,
    notices: Notices,
  ) {
    this.#peers = new LockPeers(
      notices,
      () => this.#keysHeld(),
      () => this.#wake.abort(),
    );
  }

  /** Resolves to undefined when `signal` aborts first; rejects when the connection fails. */
  acquire(
    key: string,
    signal: AbortSignal,
    { brief = false }: LockOptions = {},
  ): Promise<HeldLock | undefined> {
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
        brief,
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
    if (!this.#asking) detach(this.#askWhileAwaited());
  }

  async #askWhileAwaited(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.size > 0) {
      this.#wake = new AbortController();
      try {
        await this.#ask();
      } catch (error) {
        for (const waiter of [...this.#waiting]) waiter.failed(error);
      }
      await this.#untilWorthAsking();
    }
    this.#asking = false;
  }

  async #untilWorthAsking(): Promise<void> {
    const askedAt = performance.now();
    const spread = 0.75 + Math.random() / 2;
    while (this.#waiting.size > 0 && !this.#wake.signal.aborted) {
      const leftMs = this.#pauseMs(performance.now() - askedAt, spread);
      if (leftMs <= 0) return;
      await pause(leftMs, this.#wake.signal);
    }
  }

  #pauseMs(passedMs: number, spread: number): number {
    if (this.#keysHeld().length > 0) return ASK_AGAIN_MS - passedMs;
    const heldForMs = Math.min(...this.#keysAwaited().map((key) => this.#peers.heldFor(key)));
    if (heldForMs > 0) return Math.min(HELD_AGAIN_MS * spread - passedMs, heldForMs);
    return FREE_AGAIN_MS * spread - passedMs;
  }

  async #ask(): Promise<void> {
    const keys = this.#keysAwaited();
    if (keys.length === 0) return;
    const lease = await this.session.lease();
    try {
      await this.#askFor(keys, lease);
    } finally {
      await lease.release();
    }
  }

  async #askFor(keys: readonly string[], lease: SessionLease): Promise<void> {
    const { connection } = lease;
    const mayTake = keys.filter((key) => this.#mayTake(key));
    const free = await closingOnFailure(connection, () =>
      connection.query<{ key: string; taken: boolean }>(
        ASK,
        [keys, this.leaderKey, mayTake],
        STATEMENT_TIMEOUT_MS,
      ),
    );
    const freeBefore = new Map(this.#freeSince);
    this.#freeSince.clear();
    for (const { key, taken } of free) {
      if (taken) this.#held.set(key, connection);
      else this.#freeSince.set(key, freeBefore.get(key) ?? performance.now());
    }
    if (!free.some(({ taken }) => taken)) return;
    this.#peers.announceHeld();
    for (const { key, taken } of free) if (taken) await this.#grant(key, this.#lockOn(lease.share(), key));
  }

  /** A process that already holds a lock needs no further connection for another one. */
  #mayTake(key: string): boolean {
    const freeFor = performance.now() - (this.#freeSince.get(key) ?? Infinity);
    const isBrief = [...this.#waiting].some((waiter) => waiter.key === key && waiter.brief);
    return isBrief || this.#keysHeld().length > 0 || freeFor >= UNWANTED_AFTER_MS;
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
        connection.query('SELECT pg_advisory_unlock($1)', [key], STATEMENT_TIMEOUT_MS);
      // The end of the session releases the lock too.
      if (!connection.closed.aborted) await closingOnFailure(connection, unlock).catch(() => undefined);
      this.#held.delete(key);
      this.#askNow();
      if (!connection.closed.aborted) this.#peers.announceReleased(key);
      await lease.release();
    };
    return { lost: connection.closed, release };
  }

  #keysAwaited(): readonly string[] {
    return [...new Set([...this.#waiting].map(({ key }) => key))].filter((key) => !this.#held.has(key));
  }

  #keysHeld(): readonly string[] {
    return [...this.#held].filter(([, { closed }]) => !closed.aborted).map(([key]) => key);
  }
}

/** Closes the connection if the statement fails: whether it took or released the lock is then unknown. */
const closingOnFailure = async <T>(
  connection: DedicatedConnection,
  statement: () => Promise<T>,
): Promise<T> => {
  try {
    return await statement();
  } catch (error) {
    detach(connection.close());
    throw error;
  }
};
