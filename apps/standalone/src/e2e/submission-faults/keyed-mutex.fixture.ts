/** A lock for each name. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();
  #held = 0;
  #quietSince = performance.now();

  /** How long no lock has been held, in milliseconds. */
  get quietMs(): number {
    return this.#held > 0 ? 0 : performance.now() - this.#quietSince;
  }

  /** Acquires the lock; returns a function that releases it. */
  async lock(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const mine = Promise.withResolvers<void>();
    this.#last.set(name, mine.promise);
    await before;
    this.#held++;
    return () => {
      this.#held--;
      this.#quietSince = performance.now();
      mine.resolve();
    };
  }
}
