import type { DomainError } from '@berth/kernel';
import { deadlineExceeded, serviceUnavailable } from './request-failures.js';

/** No reply and no heartbeat for this long: the handler's process is dead or frozen. */
export const SILENCE_MS = 3_500;
const SWEEP_MS = 250;

interface Pending {
  resolve(value: unknown): void;
  reject(error: DomainError): void;
  deadlineTimer: NodeJS.Timeout;
  heardAt: number;
}

/** Requests that wait for their answer; watches deadlines and silence with one timer for all. */
export class PendingRequests {
  readonly #pending = new Map<string, Pending>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweptAt = 0;

  /** Registers `id`; the promise settles by `settle`, `fail`, its deadline or silence. */
  add(id: string, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const deadlineTimer = setTimeout(
        () => this.fail(id, deadlineExceeded()),
        Math.min(deadlineMs, 2 ** 31 - 1),
      );
      this.#pending.set(id, { resolve, reject, deadlineTimer, heardAt: performance.now() });
      this.#sweepWhileNeeded();
    });
  }

  heard(id: string): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) pending.heardAt = performance.now();
  }

  settle(id: string, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  fail(id: string, error: DomainError): void {
    this.#take(id)?.reject(error);
  }

  /** Fails every request that was sent before `sentBefore` (`performance.now()`). */
  failAll(error: () => DomainError): void {
    for (const id of [...this.#pending.keys()]) this.fail(id, error());
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    clearTimeout(pending.deadlineTimer);
    if (this.#pending.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    return pending;
  }

  #sweepWhileNeeded(): void {
    if (this.#sweeper !== undefined) return;
    this.#sweptAt = performance.now();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  #sweep(): void {
    const now = performance.now();
    // When this process itself stood still, heartbeats lie unread in the socket: that time is nobody's silence.
    const stoodStill = Math.max(0, now - this.#sweptAt - 2 * SWEEP_MS);
    this.#sweptAt = now;
    for (const [id, pending] of this.#pending) {
      pending.heardAt += stoodStill;
      if (now - pending.heardAt > SILENCE_MS) this.fail(id, serviceUnavailable());
    }
  }
}
