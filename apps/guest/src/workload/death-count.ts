import type { RestartPolicy } from '@berth/guest-protocol';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;

/** The next step after a crash. */
export type AfterDeath = { readonly giveUp: false; readonly backoffMs: number } | { readonly giveUp: true };

/** Counts a program's crashes and decides when to give up. Times are milliseconds of a monotonic clock. */
export class DeathCount {
  #deaths: number[] = [];
  #everServed = false;

  constructor(private readonly policy: RestartPolicy) {}

  served(): void {
    this.#everServed = true;
  }

  died(now: number): AfterDeath {
    const { maxDeaths, maxEarlyDeaths, windowMs } = this.policy;
    this.#deaths = [...this.#deaths.filter((at) => now - at < windowMs), now];
    const limit = this.#everServed ? maxDeaths : maxEarlyDeaths;
    if (this.#deaths.length >= limit) return { giveUp: true };
    const backoffMs = FIRST_BACKOFF_MS * 2 ** (this.#deaths.length - 1);
    return { giveUp: false, backoffMs: Math.min(backoffMs, MAX_BACKOFF_MS) };
  }
}
