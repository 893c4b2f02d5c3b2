const COUNTED_FOR_MS = 60_000;

/** Finds agents that take more of something than they may, from the first look on; each is counted anew after a minute. */
export class Takers {
  readonly #had = new Map<string, number>();
  #since = 0;

  constructor(private readonly has: (agentId: string) => Promise<number | null>) {}

  /** Returns the agents that took more than `most`, with how much; they are counted anew. */
  async find(agentIds: readonly string[], most: number): Promise<ReadonlyMap<string, number>> {
    const now = performance.now();
    if (now - this.#since > COUNTED_FOR_MS) this.reset();
    if (this.#had.size === 0) this.#since = now;
    const found = new Map<string, number>();
    for (const agentId of agentIds) {
      const has = (await this.has(agentId)) ?? 0;
      const taken = has - (this.#had.get(agentId) ?? has);
      if (taken > most) found.set(agentId, taken);
      // Less than before: it was started anew.
      if (taken > most || taken < 0 || !this.#had.has(agentId)) this.#had.set(agentId, has);
    }
    return found;
  }

  reset(): void {
    this.#had.clear();
  }
}
