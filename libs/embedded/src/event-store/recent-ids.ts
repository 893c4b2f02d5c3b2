/* EventStoreDB's own cache holds about as many. */
const DEFAULT_LIMIT = 100_000;

interface Place {
  readonly streamId: number;
  readonly revision: number;
}

/** Where recently written events went, to recognise a retry that names no exact revision. Bounded, oldest go first. */
export class RecentIds {
  readonly #places = new Map<string, Place>();

  constructor(readonly limit: number = DEFAULT_LIMIT) {}

  remember(id: string, streamId: number, revision: number): void {
    this.#places.delete(id);
    this.#places.set(id, { streamId, revision });
    if (this.#places.size <= this.limit) return;
    for (const oldest of this.#places.keys()) {
      this.#places.delete(oldest);
      break;
    }
  }

  revisionIn(streamId: number | undefined, id: string): number | undefined {
    const place = this.#places.get(id);
    return place?.streamId === streamId ? place?.revision : undefined;
  }

  clear(): void {
    this.#places.clear();
  }
}
