import type { MonotonicClock } from './monotonic-clock.js';

/** Twice the maximum rate by which a kernel slews a clock that follows NTP. */
const DRIFT = 0.001;
const REFRESH_AFTER_MS = 30_000;
/** When wall clock and monotonic clock diverge by this much, the former was set or the machine was suspended. */
const STEP_MS = 500;
const MOST_SENDERS = 1_000;

interface Measured {
  /** A lower bound of (own clock − sender's clock). */
  readonly offset: number;
  readonly at: number;
}

/** Measured clocks of other processes: lower bounds of their offsets, so that an age is never underestimated. */
export class SenderClocks {
  readonly #measured = new Map<string, Measured>();
  #lead: number;
  /** Own time of the last detected step. */
  #steppedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly own: MonotonicClock,
    private readonly wallClock: () => number = Date.now,
  ) {
    this.#lead = wallClock() - own.now();
  }

  /** Returns an upper bound of the time since `sender` read `sentAt` from its clock; undefined for an unknown clock. */
  ageAtMost(sender: string, sentAt: number): number | undefined {
    const now = this.own.now();
    if (sender === this.own.id) return now - sentAt;
    this.#forgetAfterStep(now);
    const measured = this.#measured.get(sender);
    if (measured === undefined) return undefined;
    return now - sentAt - measured.offset + (now - measured.at) * DRIFT;
  }

  /** Whether a known clock should be measured again. */
  isDue(sender: string): boolean {
    const measured = this.#measured.get(sender);
    return measured !== undefined && this.own.now() - measured.at > REFRESH_AFTER_MS;
  }

  /** `sender` read `senderNow` from its clock after this process had read `askedAt` from its own. */
  learn(sender: string, askedAt: number, senderNow: number): void {
    const now = this.own.now();
    this.#forgetAfterStep(now);
    // The reply may be from before the step and is then useless.
    if (askedAt <= this.#steppedAt) return;
    const known = this.#measured.get(sender);
    const offset = askedAt - senderNow;
    // The greater lower bound is the better one, even if it is older.
    if (known !== undefined && known.offset - (now - known.at) * DRIFT >= offset && !this.isDue(sender))
      return;
    if (this.#measured.size >= MOST_SENDERS) this.#measured.clear();
    this.#measured.set(sender, { offset, at: askedAt });
  }

  // A monotonic clock stops while its machine is suspended, so ages would be too small.
  #forgetAfterStep(now: number): void {
    const lead = this.wallClock() - now;
    if (Math.abs(lead - this.#lead) > STEP_MS) {
      this.#measured.clear();
      this.#steppedAt = now;
    }
    this.#lead = lead;
  }
}
