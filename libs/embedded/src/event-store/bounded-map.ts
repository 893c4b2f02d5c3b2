/**
 * A map that holds at most `limit` entries, and at least the `limit / 2` that were used or set last. Two generations:
 * when the young one reaches half the limit it becomes the old one, and the previous old one is dropped.
 * Deleting the oldest key of a single map looks simpler, but finding that key walks over all keys deleted before it.
 */
export class BoundedMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(private readonly limit: number) {}

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const aged = this.#old.get(key);
    if (aged !== undefined) this.set(key, aged);
    return aged;
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.limit / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
