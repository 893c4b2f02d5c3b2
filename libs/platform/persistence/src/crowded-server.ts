import { backoff, pause } from '@berth/supervision';
import type { Pool } from 'pg';
import { isServerFull, serviceUnavailable } from './connection-errors.js';
import { CALL_BUDGET_MS, LEAST_STATEMENT_MS } from './connection-options.js';
import type { DatabaseLog } from './log.js';
import type { Notices } from './notices.js';

const TOPIC = 'crowded';

/** How long the processes close idle connections early after the server refused a connection. */
const CROWDED_MS = 5_000;

const ANNOUNCE_AGAIN_MS = 500;
const LOG_AGAIN_MS = 60_000;

/** A connection stays idle this long even on a crowded server, so that consecutive statements use one connection. */
const IDLE_WHILE_CROWDED_MS = 100;

/** How long the first call in line waits for a connection of its own process to be released before it opens another. */
const RELEASED_WITHIN_MS = 50;

/**
 * Shares the connections of a server that has too few for all processes: a refused process tries again within the time
 * of its call, and every process that receives its notice closes its idle connections.
 */
export class CrowdedServer {
  #crowdedUntil = 0;
  #announcedAt = -Infinity;
  #loggedAt = -Infinity;
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #released = new AbortController();
  #closingIdle: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly notices: Notices,
    private readonly log: DatabaseLog,
  ) {
    notices.subscribe(TOPIC, (text) => {
      if (text !== null) this.#markCrowded();
    });
  }

  /**
   * Takes a connection from the pool by `open`. After the server refused one, the calls of this process wait in line,
   * and the first of them tries again until it gets a new or a released connection, or too little of its time is left.
   * A call whose time ends in line fails at once, however long the calls before it take; `unused` gets the connection
   * that comes later.
   */
  async fromPool<T>(open: () => Promise<T>, unused: (late: T) => void): Promise<T> {
    const giveUpAt = performance.now() + CALL_BUDGET_MS - LEAST_STATEMENT_MS;
    if (this.#waiting === 0 && !this.#isCrowded) {
      try {
        return await open();
      } catch (error) {
        if (!isServerFull(error)) throw error;
        this.#announce();
      }
    }
    this.#waiting++;
    const turn = this.#turn.then(() => this.#firstInLine(open, giveUpAt));
    this.#turn = turn.catch(() => undefined);
    return untilTime(turn, giveUpAt, unused).finally(() => this.#waiting--);
  }

  /** Opens a connection outside the pool by `open`, and again while the server has no free one. */
  outsidePool<T>(open: () => Promise<T>): Promise<T> {
    return this.#repeat(open, performance.now() + CALL_BUDGET_MS - LEAST_STATEMENT_MS);
  }

  /** Call it when a connection of the pool is released: the first call in line continues. */
  released(): void {
    if (this.#waiting > 0) {
      this.#released.abort();
      this.#released = new AbortController();
    } else if (this.#isCrowded)
      this.#closingIdle ??= setTimeout(() => this.#closeIdle(), IDLE_WHILE_CROWDED_MS).unref();
  }

  get #isCrowded(): boolean {
    return performance.now() < this.#crowdedUntil;
  }

  async #firstInLine<T>(open: () => Promise<T>, giveUpAt: number): Promise<T> {
    if (performance.now() >= giveUpAt) throw noneInTime();
    if (this.pool.totalCount > this.pool.idleCount) await pause(RELEASED_WITHIN_MS, this.#released.signal);
    return this.#repeat(open, giveUpAt, () => this.#released.signal);
  }

  /** Rethrows the error of `open` when `giveUpAt` is near. A pause ends early when the signal of `worthTrying` aborts. */
  async #repeat<T>(open: () => Promise<T>, giveUpAt: number, worthTrying?: () => AbortSignal): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await open();
      } catch (error) {
        const waitMs = backoff(attempt, 100, 500);
        if (!isServerFull(error) || performance.now() + waitMs > giveUpAt) throw error;
        this.#announce();
        await pause(waitMs, worthTrying?.());
      }
    }
  }

  #markCrowded(): void {
    this.#crowdedUntil = performance.now() + CROWDED_MS;
    if (this.#waiting === 0) this.#closeIdle();
  }

  #announce(): void {
    this.#markCrowded();
    if (performance.now() - this.#announcedAt < ANNOUNCE_AGAIN_MS) return;
    this.#announcedAt = performance.now();
    this.notices.publish(TOPIC, '');
    if (performance.now() - this.#loggedAt < LOG_AGAIN_MS) return;
    this.#loggedAt = performance.now();
    this.log.warn({}, 'PostgreSQL has no free connection; calls wait for one, or fail as unavailable');
  }

  #closeIdle(): void {
    clearTimeout(this.#closingIdle);
    this.#closingIdle = undefined;
    for (let idle = this.pool.idleCount; idle > 0 && !this.pool.ending; idle--)
      void this.pool.connect().then(
        (client) => client.release(true),
        () => undefined,
      );
  }
}

/** Rejects when `giveUpAt` comes before the result, which `unused` then gets. */
const untilTime = async <T>(work: Promise<T>, giveUpAt: number, unused: (late: T) => void): Promise<T> => {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(noneInTime());
    void work.then(unused, () => undefined);
  }, giveUpAt - performance.now());
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
};

const noneInTime = (): Error => serviceUnavailable(new Error('No connection became free in time.'));
