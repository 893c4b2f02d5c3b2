/**
 * Removes containers, all that are waiting with one call: a host that shuts down removes all its containers at once, and
 * a call for each of them would take many times as long.
 */
export class ContainerRemoval {
  readonly #waiting = new Set<string>();
  #next: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(private readonly removeAll: (ids: readonly string[]) => Promise<unknown>) {}

  /** Resolves when no removal is under way. */
  get ended(): Promise<void> {
    return (this.#next ?? this.#current).catch(() => undefined);
  }

  /** Resolves when the container is removed. Rejects with the error of its own removal only. */
  async remove(id: string): Promise<void> {
    this.#waiting.add(id);
    this.#next ??= this.#current.then(() => this.#removeWaiting());
    const together = this.#next;
    // One failed container must not be another's error.
    await together.catch(() => this.removeAll([id]));
  }

  async #removeWaiting(): Promise<void> {
    const ids = [...this.#waiting];
    this.#waiting.clear();
    this.#next = undefined;
    const removing = this.removeAll(ids);
    this.#current = removing.then(
      () => undefined,
      () => undefined,
    );
    await removing;
  }
}
