import { setTimeout as pause } from 'node:timers/promises';
import { DomainError, isDomainError } from '@berth/kernel';

/** Short enough that a suspension, a deletion or a free place shows soon, long enough that a flood costs no look-ups. */
const FOR_MS = 500;
const MOST = 10_000;
/** Who is refused waits so long for the response: one that repeats at once costs a request every 25 ms. */
const PAUSE_MS = 25;

interface Refusal {
  readonly error: DomainError;
  readonly since: number;
}

/**
 * Remembers for a moment, on a clock that nothing sets, which callers have used up their rate, and refuses them without
 * asking a service.
 */
export class RefusedCallers {
  readonly #refusals = new Map<string, Refusal>();

  /** Remembers the caller if `error` says that its rate is used up. */
  note(key: string, error: unknown): void {
    if (!isUsedUp(error)) return;
    this.#refusals.delete(key);
    this.#refusals.set(key, { error, since: performance.now() });
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MOST && oldest !== undefined) this.#refusals.delete(oldest);
  }

  /** Throws the error with which the caller was refused a moment ago. */
  async refuseKnown(key: string): Promise<void> {
    const refusal = this.#refusals.get(key);
    if (refusal === undefined) return;
    if (performance.now() - refusal.since >= FOR_MS) {
      this.#refusals.delete(key);
      return;
    }
    await pause(PAUSE_MS);
    throw refusal.error;
  }
}

const isUsedUp = (error: unknown): error is DomainError =>
  isDomainError(error, 'exhausted') && error.code === 'rate_limited';
