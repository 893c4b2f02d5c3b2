/** Notifies readers that wait at the end of a stream, or of the whole log, about new commits. */
export class CommitSignal {
  readonly #ofAll = new Set<() => void>();
  readonly #ofStream = new Map<string, Set<() => void>>();
  #closed = false;

  /** Once closed, nothing more will be committed; waiting readers should end. */
  get closed(): boolean {
    return this.#closed;
  }

  /** How many readers wait. */
  get listenerCount(): number {
    let count = this.#ofAll.size;
    for (const listeners of this.#ofStream.values()) count += listeners.size;
    return count;
  }

  /**
   * Calls `listener` after every commit that touches `stream` (any stream if undefined). Returns a function that stops
   * it.
   */
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

  /** Notifies all listeners for the last time. */
  close(): void {
    this.#closed = true;
    for (const listener of this.#ofAll) listener();
    for (const listeners of this.#ofStream.values()) {
      for (const listener of listeners) listener();
    }
  }
}
