import { DomainError } from '@berth/kernel';
import type { SilenceAllowance } from '@berth/messaging';

/**
 * One time limit that all dependencies of a request share, so that a 503 arrives within 5 s. The time that the agent itself
 * takes to wake and to answer does not count.
 */
export class SharedTimeout implements SilenceAllowance {
  #leftMs: number;

  constructor(withinMs: number) {
    this.#leftMs = withinMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#leftMs);
  }

  /** Counts time that was lost on a dependency that did not respond. */
  spend(millis: number): void {
    this.#leftMs -= millis;
  }

  /** Waits for `work` for the remaining time. Errors: unavailable `service_unavailable`; the work then continues. */
  async within<T>(work: Promise<T>): Promise<T> {
    const begun = performance.now();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(timedOut()), this.leftMs);
    try {
      const result = await Promise.race([work, late.promise]);
      // This process may have been suspended while the result was in its socket; the caller has a 503 by now.
      if (performance.now() - begun > this.leftMs) throw timedOut();
      return result;
    } finally {
      clearTimeout(timer);
      work.catch(() => undefined);
      this.spend(performance.now() - begun);
    }
  }
}

const timedOut = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'A part of the service did not respond in time. Try again shortly.',
  );
