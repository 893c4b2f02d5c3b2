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
  #running: Promise<Outcome<T>> | undefined;

  constructor(private readonly check: () => Promise<T>) {}

  /** Returns the result, or undefined when the check failed or took longer than 700 ms. */
  async result(): Promise<Outcome<T>> {
    this.#running ??= this.#run();
    return inTime(this.#running);
  }

  async #run(): Promise<Outcome<T>> {
    try {
      return await this.check();
    } catch {
      return undefined;
    } finally {
      setTimeout(() => (this.#running = undefined), FRESH_MS).unref();
    }
  }
}

const inTime = <T>(check: Promise<Outcome<T>>): Promise<Outcome<T>> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), WITHIN_MS);
  });
  return Promise.race([check, late]).finally(() => clearTimeout(timer));
};
