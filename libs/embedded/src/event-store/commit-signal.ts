/** Tells readers that wait at the end of a stream, or of the whole log, that something was committed behind them. */
export class CommitSignal {
  readonly #ofAll = new Set<() => void>();
  readonly #ofStream = new Map<string, Set<() => void>>();
  #closed = false;

  /** Once closed nothing will be committed any more; who waits should end. */
  get closed(): boolean {
    return this.#closed;
  }

  /** How many readers wait. */
  get listenerCount(): number {
    let count = this.#ofAll.size;
    for (const listeners of this.#ofStream.values()) count += listeners.size;
    return count;
  }

  /** Calls `listener` after every commit that touches `stream` (any stream when undefined). Returns how to stop it. */
  listen(stream: string | undefined, listener: () => void): () => void {
    if (stream === undefined) {
      this.#ofAll.add(listener);
      return () => this.#ofAll.delete(listener);
    }
    const listeners = this.#ofStream.get(stream) ?? new Set();
    this.#ofStream.set(stream, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#ofStream.get(stream) === listeners) this.#ofStream.delete(stream);
    };
  }

  announce(streams: ReadonlySet<string>): void {
    if (streams.size === 0) return;
    for (const listener of this.#ofAll) listener();
    if (this.#ofStream.size === 0) return;
    for (const stream of streams) {
      for (const listener of this.#ofStream.get(stream) ?? []) listener();
    }
  }

  /** Wakes everybody for the last time. */
  close(): void {
    this.#closed = true;
    for (const listener of this.#ofAll) listener();
    for (const listeners of this.#ofStream.values()) {
      for (const listener of listeners) listener();
    }
  }
}
