import { BoundedMap } from './bounded-map.js';

/* EventStoreDB's own cache holds about 100,000 ids; this one keeps at least half of its limit. */
const DEFAULT_LIMIT = 200_000;

interface Place {
  readonly streamId: number;
  readonly revision: number;
}

/** Where recently written events are stored, to recognise a retry without an exact expected revision. */
export class RecentIds {
  readonly #places: BoundedMap<string, Place>;

  constructor(private readonly limit: number = DEFAULT_LIMIT) {
    this.#places = new BoundedMap(limit);
  }

  /** How many of the newest events it is guaranteed to hold. */
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
