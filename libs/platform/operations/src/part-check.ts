/** Longer than a healthy part ever takes, and short enough for a caller that waits 900 ms. */
const WITHIN_MS = 700;
const FRESH_MS = 250;

/** What became of the last question to a part; undefined: no answer in time. */
type Outcome<T> = T | undefined;

/**
 * Asks one part a question for all who want to know: one at a time, and at most every 250 ms. A question that hangs is
 * not asked again before it has ended, so that a frozen part never gathers questions.
 */
export class PartCheck<T> {
  #asked: Promise<Outcome<T>> | undefined;

  constructor(private readonly question: () => Promise<T>) {}

  /** The answer, or undefined when it failed or did not come within 700 ms. */
  async ask(): Promise<Outcome<T>> {
    this.#asked ??= this.#ask();
    return inTime(this.#asked);
  }

  async #ask(): Promise<Outcome<T>> {
    try {
      return await this.question();
    } catch {
      return undefined;
    } finally {
      setTimeout(() => (this.#asked = undefined), FRESH_MS).unref();
    }
  }
}

const inTime = <T>(answer: Promise<Outcome<T>>): Promise<Outcome<T>> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), WITHIN_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
};
