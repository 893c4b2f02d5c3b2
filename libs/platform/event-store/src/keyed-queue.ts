/**
 * Runs work with the same key sequentially and work with different keys concurrently. One `p-limit` for each key would
 * cost every command an extra object and turn of the event loop, and needs the same map.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const tail = result
      .catch(() => undefined)
      .finally(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return result;
  }
}
