/**
 * Reports that rows of a projection may have changed. Begin the watch, read the rows, and read them again after a
 * change.
 */
export class ChangeWatch implements Disposable {
  #changed = false;
  #notify: () => void = () => undefined;

  /** Use `ProjectionRunner.watchStream`. */
  constructor(private readonly end: (watch: ChangeWatch) => void) {}

  /** Resolves when there was a change since the last call, or since the watch began; at the latest after `withinMs`. */
  async changed(withinMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.#changed && signal?.aborted !== true) await this.#next(withinMs, signal);
    this.#changed = false;
  }

  notify(): void {
    this.#changed = true;
    this.#notify();
  }

  [Symbol.dispose](): void {
    this.end(this);
  }

  #next(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, withinMs);
      signal?.addEventListener('abort', over, { once: true });
      this.#notify = over;
    });
  }
}
