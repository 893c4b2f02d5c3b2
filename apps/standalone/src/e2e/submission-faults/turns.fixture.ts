/** Grants one turn at a time for each name. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();
  #taken = 0;
  #quietSince = performance.now();

  /** For how long no turn has been taken, in milliseconds. */
  get quietMs(): number {
    return this.#taken > 0 ? 0 : performance.now() - this.#quietSince;
  }

  /** Waits for the turn; returns a function that releases it. */
  async take(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const mine = Promise.withResolvers<void>();
    this.#last.set(name, mine.promise);
    await before;
    this.#taken++;
    return () => {
      this.#taken--;
      this.#quietSince = performance.now();
      mine.resolve();
    };
  }
}
