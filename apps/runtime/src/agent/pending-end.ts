import { setTimeout as delay } from 'node:timers/promises';
import { guestUnreachable } from '../guest/guest-responses.js';

/** The end of an agent's guest, while it takes place. */
export class PendingEnd {
  #over: Promise<unknown> = Promise.resolve();

  async during(end: Promise<void>): Promise<void> {
    this.#over = end.catch(() => undefined);
    await end;
  }

  /**
   * Resolves when no guest is being ended: until then one may still begin what it was sent, and write that into its
   * journals. Errors: unavailable `guest_unreachable` if that takes longer than `withinMs`.
   */
  async over(withinMs: number): Promise<void> {
    const isLate = await Promise.race([this.#over.then(() => false), delay(withinMs, true, { ref: false })]);
    if (isLate) throw guestUnreachable();
  }
}
