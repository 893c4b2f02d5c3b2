/** Tells readers that wait at the end of a stream, or of the whole log, that something was committed behind them. */
export class CommitSignal {
  readonly #ofAll = new Set<() => void>();
  readonly #ofStream = new Map<string, Set<() => void>>();

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
}
