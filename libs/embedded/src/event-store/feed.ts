import type { RecordedEvent } from './log-event.js';

/** The next item for a reader: an event or, if events are filtered, how far the log was searched. */
export type FeedItem = RecordedEvent | Checkpoint;

/** A subscription can resume after this position; -1 (on the wire 2^64 - 1) when nothing was sent since the start. */
export interface Checkpoint {
  readonly checkpoint: number;
}

/** Items read in one go. `complete`: the end was reached, for now. */
export interface FeedPage {
  readonly items: readonly FeedItem[];
  readonly complete: boolean;
}

/** A reader's cursor through a stream or the log: each page continues after the previous one. */
export interface Feed {
  /** The stream whose commits may add events; undefined for the whole log. */
  readonly stream: string | undefined;
  next(): FeedPage;
  /** Upper bound of the number of events before the end. */
  distanceToEnd(): number;
  /** Catches up again because a live reader was too slow; returns what to send to the reader about that. */
  fallBehind(): readonly FeedItem[];
}
