/** The machine's clock, which a test can step. */
export class SteppedClock {
  #offsetMs = 0;

  /** Unix milliseconds. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Sets the clock forward, or back by a negative time. */
  step(byMs: number): void {
    this.#offsetMs += byMs;
  }
}
