import type { RecordedEvent } from './log-event.js';

/** What a reader gets next: an event, or how far the log was looked through when events are filtered. */
export type FeedItem = RecordedEvent | Checkpoint;

/** Everything up to and including this position was looked at. */
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
  /** Where a reader that saw everything so far stands; undefined when the caller gets no checkpoints. */
  checkpointAtEnd(): number | undefined;
}
