import type { EventLog } from './event-log.js';
import type { Feed, FeedItem, FeedPage } from './feed.js';
import type { EventFilter } from './filter.js';
import type { RecordedEvent } from './log-event.js';

/* EventStoreDB reads pages of this many matches for a subscription. */
const MATCHES_OF_A_PAGE = 32;

/** The position of a subscription from the start before its first event; 2^64 - 1 on the wire. */
export const BEFORE_THE_LOG = -1;

/**
 * The log for a filtered subscription, with the checkpoints of EventStoreDB 24.6
 * (`Enumerator.AllSubscriptionFiltered`). While catching up: one checkpoint for each search window of considered
 * events, at the start of the page read last. On reaching the end: one at the last item sent, which is position -1 when
 * nothing was sent. Live: one for each search window. There is no checkpoint at the head of the log. A checkpoint must
 * be above the previous one by unsigned comparison, so none follows after -1.
 */
export class FilteredFeed implements Feed {
  readonly stream = undefined;
  #next: number;
  #pageStart: number;
  /** The last event or checkpoint sent. */
  #sent: number;
  #lastCheckpoint = -1n;
  #considered = 0;
  #live: boolean;
  /** Events of the last page read from the log that are still to be considered, from index `#readIndex` on. */
  #read: readonly RecordedEvent[] = [];
  #readIndex = 0;

  /** Reads the events after the position `after`. */
  constructor(
    private readonly log: EventLog,
    after: number,
    private readonly filter: EventFilter,
  ) {
    this.#pageStart = Math.max(0, after);
    this.#next = this.#pageStart + 1;
    this.#sent = after;
    this.#live = after !== BEFORE_THE_LOG && after >= log.lastPosition;
  }

  next(): FeedPage {
    return this.#live ? this.#nextLive() : this.#nextCatchingUp();
  }

  distanceToEnd(): number {
    return Math.max(0, this.log.lastPosition - this.#next + 1);
  }

  fallBehind(): readonly FeedItem[] {
    this.#live = false;
    this.#considered = 0;
    this.#pageStart = this.#next;
    return this.#checkpoint();
  }

  #nextCatchingUp(): FeedPage {
    const start = this.#pageStart;
    const { items, considered, full } = this.#search(this.filter.window, MATCHES_OF_A_PAGE);
    this.#considered += considered;
    this.#pageStart = this.#next;
    if (!full) {
      this.#live = true;
      this.#considered = 0;
      return { items: [...items, ...this.#checkpoint()], complete: true };
    }
    if (this.#considered < this.filter.checkpointInterval) return { items, complete: false };
    this.#considered %= this.filter.checkpointInterval;
    this.#sent = Math.max(this.#sent, start);
    return { items: [...items, ...this.#checkpoint()], complete: false };
  }

  #nextLive(): FeedPage {
    const left = this.filter.checkpointInterval - this.#considered;
    const { items, considered } = this.#search(left, Number.MAX_SAFE_INTEGER);
    this.#considered += considered;
    const complete = this.#next > this.log.lastPosition;
    if (this.#considered < this.filter.checkpointInterval) return { items, complete };
    this.#considered = 0;
    this.#sent = this.#next - 1;
    return { items: [...items, ...this.#checkpoint()], complete };
  }

  /** Searches up to `window` events for up to `most` matches. `full`: one of the two limits was reached. */
  #search(window: number, most: number): { items: FeedItem[]; considered: number; full: boolean } {
    const items: FeedItem[] = [];
    let considered = 0;
    while (considered < window && items.length < most) {
      const event = this.#read[this.#readIndex] ?? this.#readNextPage();
      if (event === undefined) return { items, considered, full: false };
      this.#readIndex += 1;
      considered += 1;
      this.#next = event.position + 1;
      if (!this.filter.matches(event)) continue;
      items.push(event);
      this.#sent = event.position;
    }
    return { items, considered, full: true };
  }

  /** Reads the next page of the log, which spans several pages of matches, and returns its first event. */
  #readNextPage(): RecordedEvent | undefined {
    const { lastPosition } = this.log;
    this.#readIndex = 0;
    this.#read =
      this.#next > lastPosition ? [] : this.log.readAll(this.#next, lastPosition, 'forwards').events;
    return this.#read[0];
  }

  #checkpoint(): readonly FeedItem[] {
    const unsigned = BigInt.asUintN(64, BigInt(this.#sent));
    if (unsigned <= this.#lastCheckpoint) return [];
    this.#lastCheckpoint = unsigned;
    return [{ checkpoint: this.#sent }];
  }
}
