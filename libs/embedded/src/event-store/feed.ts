import type { RecordedEvent } from './log-event.js';

/** What a reader gets next: an event, or how far the log was looked through when events are filtered. */
export type FeedItem = RecordedEvent | Checkpoint;

/** A subscription may go on after this position; -1 (on the wire 2^64 - 1) when nothing was sent from the start on. */
export interface Checkpoint {
  readonly checkpoint: number;
}

/** Items read at one go. `complete`: the end was reached, for now. */
export interface FeedPage {
  readonly items: readonly FeedItem[];
  readonly complete: boolean;
}

/** A reader's way through a stream or the log. It remembers where it is, so each page goes on after the last. */
export interface Feed {
  /** Stream whose commits may bring something new; undefined for the whole log. */
  readonly stream: string | undefined;
  next(): FeedPage;
  /** How many events may still lie before the end. */
  distanceToEnd(): number;
  /** Catches up anew because a live reader was too slow; what it is to be told of that. */
  fallBehind(): readonly FeedItem[];
}
