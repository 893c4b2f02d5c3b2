import type { Direction, EventLog } from './event-log.js';
import type { Feed, FeedPage } from './feed.js';
import type { EventFilter } from './filter.js';

/**
 * Reads the whole log by position, forwards or backwards, with an optional filter. Filtered subscriptions use
 * `FilteredFeed`.
 */
export class AllFeed implements Feed {
  readonly stream = undefined;
  #next: number;

  /** `from` and `until` are positions, both inclusive; `until` applies only when reading forwards. */
  constructor(
    private readonly log: EventLog,
    from: number,
    private readonly direction: Direction,
    private readonly filter?: EventFilter,
    private readonly until: number = Number.MAX_SAFE_INTEGER,
  ) {
    this.#next = from;
  }

  next(): FeedPage {
    const forwards = this.direction === 'forwards';
    const first = forwards ? this.#next : 0;
    const last = forwards ? Math.min(this.until, this.log.lastPosition) : this.#next;
    if (first > last) return { items: [], complete: true };
    const { events, complete } = this.log.readAll(first, last, this.direction);
    const lastRead = events.at(-1)?.position;
    if (lastRead !== undefined) this.#next = forwards ? lastRead + 1 : lastRead - 1;
    const { filter } = this;
    return { items: filter === undefined ? events : events.filter(filter.matches), complete };
  }

  distanceToEnd(): number {
    return Math.max(0, this.log.lastPosition - this.#next + 1);
  }

  fallBehind(): readonly [] {
    return [];
  }
}
