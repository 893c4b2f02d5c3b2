import type { Direction, EventLog } from './event-log.js';
import type { Feed, FeedItem, FeedPage } from './feed.js';
import type { EventFilter } from './filter.js';
import type { RecordedEvent } from './log-event.js';

/** The whole log in order of position, filtered where the reader asks for it. */
export class AllFeed implements Feed {
  readonly stream = undefined;
  #next: number;
  #sinceCheckpoint = 0;

  /** `from` and `until` are positions, both included; `until` is only for reading forwards. */
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
    const newest = events.at(-1)?.position;
    if (newest !== undefined) this.#next = forwards ? newest + 1 : newest - 1;
    return { items: this.filter === undefined ? events : this.#matching(events, this.filter), complete };
  }

  distanceToEnd(): number {
    return Math.max(0, this.log.lastPosition - this.#next + 1);
  }

  checkpointAtEnd(): number | undefined {
    return this.filter === undefined || this.#next <= 1 ? undefined : this.#next - 1;
  }

  #matching(events: readonly RecordedEvent[], filter: EventFilter): readonly FeedItem[] {
    const items: FeedItem[] = [];
    for (const event of events) {
      if (filter.matches(event)) items.push(event);
      this.#sinceCheckpoint += 1;
      if (filter.checkpointInterval === 0 || this.#sinceCheckpoint < filter.checkpointInterval) continue;
      this.#sinceCheckpoint = 0;
      items.push({ checkpoint: event.position });
    }
    return items;
  }
}
