import type { Actor, Json } from '@berth/kernel';

/** An event's data: a JSON object. */
export type EventData = { readonly [key: string]: Json | undefined };

/** The metadata of every event. */
export interface EventMetadata {
  /** The request that the event belongs to, across all services. */
  readonly correlationId: string;
  /** The command that caused it. */
  readonly causationId: string;
  /** W3C trace context of the command. */
  readonly traceparent?: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** An event to append. */
export interface NewEvent {
  /** A UUID. The store recognises a repeated append by the same id at the same revision. */
  readonly id: string;
  /** Past tense, literal, e.g. `AgentCreated`, `ExecutionSubmitted.v2`. */
  readonly type: string;
  readonly data: EventData;
  readonly metadata: EventMetadata;
}

/** An event in the log. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** Index in its stream, from 0 without gaps. */
  readonly revision: bigint;
  /** Position in the whole log: increasing, with gaps. */
  readonly position: bigint;
  readonly createdAt: Date;
}

/** The last revision of the stream that the writer has seen. */
export type ExpectedRevision = bigint | 'no_stream';

/** The result of an append. */
export interface Appended {
  /** Revision of the last event. */
  readonly revision: bigint;
  /** Position of the last event. */
  readonly position: bigint;
}

/** Another writer was first. `actual` is null when the server did not report it. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict';

  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision | null,
  ) {
    super(`Expected ${stream} at ${expected}, found ${actual ?? 'another revision'}`);
  }
}

/**
 * The log ends before a stored position: that position belongs to another log, or to this one before it was restored
 * from a backup. Everything derived from the log up to that position must be derived again.
 */
export class PositionBeyondLog extends Error {
  override readonly name = 'PositionBeyondLog';

  constructor(
    readonly position: bigint,
    readonly head: bigint | null,
  ) {
    super(`Position ${position} lies beyond the log, which ends at ${head ?? 'its start'}`);
  }
}

/**
 * An item of a subscription, in log order. After a checkpoint no event up to its position will follow; after
 * `caughtUp`, events are delivered as they are written.
 */
export type SubscriptionItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caughtUp' };

/** The start and the filter of a subscription. */
export interface SubscribeOptions {
  /** Delivers events after this position. */
  readonly from: bigint | 'start';
  /** Only streams of these categories are delivered; stream names are `<category>-<id>`. */
  readonly categories: readonly string[];
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/**
 * The event log, and the token by which providers inject it. While it is down, every call fails within 5 s
 * with `DomainError('unavailable', 'service_unavailable')`; calls succeed again as soon as the log is back.
 */
export abstract class EventStore {
  /** Returns the stream's events from revision `from` (default 0) on; `[]` when the stream does not exist. */
  abstract read(stream: string, options?: { readonly from?: bigint }): Promise<readonly RecordedEvent[]>;
  /** Returns the stream's last `count` events (all, if it has fewer), oldest first; `[]` when it does not exist. */
  abstract readLast(stream: string, count: number): Promise<readonly RecordedEvent[]>;
  /**
   * Appends all events or none. Throws `RevisionConflict` when the stream is at another revision, unless it already
   * contains exactly these events (by id) there: then it returns what the first append returned. Retries an unknown
   * outcome for up to 4 s with the same ids and revision.
   */
  abstract append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<Appended>;
  /**
   * Catches up and then follows the log until `signal` aborts. Throws `DomainError('unavailable', …)` when the
   * connection to the log breaks; subscribe again then, after the last item. Throws `PositionBeyondLog` when `from` is
   * beyond the log's last event. The first `caughtUp` follows a checkpoint (or an event) at or after the `head()` at
   * the time of connecting; later checkpoints are rare, and none is sent at the head.
   */
  abstract subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionItem>;
  /** Returns the event at exactly this position, of any type; null when there is none. */
  abstract eventAt(position: bigint): Promise<RecordedEvent | null>;
  /** Returns the position of the log's last event, of any type; null when the log is empty. */
  abstract head(): Promise<bigint | null>;
  /** Reads from the leader; throws `unavailable` when it does not respond within a second. */
  abstract ping(): Promise<void>;
  abstract close(): Promise<void>;
}
