/** Grants one turn at a time for each name. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for the turn; returns a function that releases it. */
  async take(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const mine = Promise.withResolvers<void>();
    this.#last.set(name, mine.promise);
    await before;
    return mine.resolve;
  }
}
