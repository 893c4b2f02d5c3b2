/** Tells when rows of a projection may have changed: begin the watch, read, and read again after a change. */
export class ChangeWatch implements Disposable {
  #changed = false;
  #tell: () => void = () => undefined;

  /** Use `ProjectionRunner.watchStream`. */
  constructor(private readonly end: (watch: ChangeWatch) => void) {}

  /** Resolves when there was a change since the last call, or since the watch began; at the latest after `withinMs`. */
  async changed(withinMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.#changed && signal?.aborted !== true) await this.#next(withinMs, signal);
    this.#changed = false;
  }

  tell(): void {
    this.#changed = true;
    this.#tell();
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
      this.#tell = over;
    });
  }
}
