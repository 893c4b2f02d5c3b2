import type { GuestEvent, GuestEvents } from '@berth/guest-protocol';

/**
 * Number of events to keep. A runtime that polls continuously misses none, and learns the effect of older ones from the
 * health route.
 */
const KEPT = 64;

/** Events for the runtime, which fetches them by long polling. */
export class EventFeed {
  #events: GuestEvent[] = [];
  #last = 0;
  #waiting = new Set<() => void>();

  publish(type: GuestEvent['type'], message: string): void {
    this.#last += 1;
    this.#events = [...this.#events, { seq: this.#last, type, message }].slice(-KEPT);
    for (const wake of this.#waiting) wake();
  }

  /** The events after `after`; waits up to `waitMs` for the first. */
  async read(after: number, waitMs: number): Promise<GuestEvents> {
    if (this.#last <= after && waitMs > 0) await this.#next(waitMs);
    return { events: this.#events.filter(({ seq }) => seq > after), last: this.#last };
  }

  async #next(waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }
}
