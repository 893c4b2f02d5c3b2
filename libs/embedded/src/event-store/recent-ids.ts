import { BoundedMap } from './bounded-map.js';

/* EventStoreDB's own cache holds about 100,000; at least half of this limit is held. */
const DEFAULT_LIMIT = 200_000;

interface Place {
  readonly streamId: number;
  readonly revision: number;
}

/** Where recently written events went, to recognise a retry that names no exact revision. */
export class RecentIds {
  readonly #places: BoundedMap<string, Place>;

  constructor(private readonly limit: number = DEFAULT_LIMIT) {
    this.#places = new BoundedMap(limit);
  }

  /** How many of the newest events are held for sure. */
  get reach(): number {
    return Math.floor(this.limit / 2);
  }

  remember(id: string, streamId: number, revision: number): void {
    this.#places.set(id, { streamId, revision });
  }

  revisionIn(streamId: number, id: string): number | undefined {
    const place = this.#places.get(id);
    return place?.streamId === streamId ? place.revision : undefined;
  }

  clear(): void {
    this.#places.clear();
  }
}
