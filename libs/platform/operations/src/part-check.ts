/** Longer than a healthy backing service ever takes, and short enough for a caller that waits 900 ms. */
const WITHIN_MS = 700;
const FRESH_MS = 250;

/** The outcome of the latest check; undefined: no response in time. */
type Outcome<T> = T | undefined;

/**
 * Runs a check of one backing service on behalf of all callers: one at a time, and at most every 250 ms. A check that
 * hangs is not started again before it has ended, so checks of a frozen service do not pile up.
 */
export class PartCheck<T> {
  #asked: Promise<Outcome<T>> | undefined;

  constructor(private readonly question: () => Promise<T>) {}

  /** Returns the result, or undefined when the check failed or took longer than 700 ms. */
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
