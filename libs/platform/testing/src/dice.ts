/** A seeded random number generator: the same seed produces the same sequence. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    // Spreads neighbouring seeds, which would otherwise produce similar sequences.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    for (let warmUp = 0; warmUp < 4; warmUp++) this.#next();
  }

  /** A random integer from `from` to `to`, both inclusive. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** True with a probability of `chance` percent. */
  percent(chance: number): boolean {
    return this.#next() * 100 < chance;
  }

  /** One of the choices, with a probability proportional to its weight. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.#next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    const last = choices.at(-1);
    if (last === undefined) throw new Error('There is nothing to choose from.');
    return last[1];
  }

  /** One of the choices, all equally likely. */
  one<T>(choices: readonly T[]): T {
    return this.weighted(choices.map((choice) => [1, choice] as const));
  }

  // Mulberry32.
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
