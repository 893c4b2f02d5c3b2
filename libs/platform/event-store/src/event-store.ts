import type { Actor, Json } from '@berth/kernel';

/** An event's data: a JSON object. */
export type EventData = { readonly [key: string]: Json | undefined };

/** What every event carries beside its data. */
export interface EventMetadata {
  /** The request the event belongs to, through all services. */
  readonly correlationId: string;
  /** The command that caused it. */
  readonly causationId: string;
  /** W3C trace context of the command. */
  readonly traceparent?: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** An event to be appended. */
export interface NewEvent {
  /** A UUID; the same one again at the same revision is recognised as the same event. */
  readonly id: string;
  /** Past tense, literal, e.g. `AgentCreated`, `ExecutionSubmitted.v2`. */
  readonly type: string;
  readonly data: EventData;
  readonly metadata: EventMetadata;
}

/** An event as it stands in the log. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** Place in its stream, from 0 without gaps. */
  readonly revision: bigint;
  /** Place in the whole log: grows, with gaps. */
  readonly position: bigint;
  readonly createdAt: Date;
}

/** The stream's last revision as the writer knows it. */
export type ExpectedRevision = bigint | 'no_stream';

/** Where an append ended. */
export interface Appended {
  /** Revision of the last event. */
  readonly revision: bigint;
  /** Position of the last event. */
  readonly position: bigint;
}

/** Somebody else wrote to the stream first. `actual` is null when the server did not say. */
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
 * The log ends before a position that somebody stored: that position belongs to another log, or to this one before it
 * was restored from a backup. What was derived from the log up to there must be derived anew.
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
 * What a subscription tells, in the order of the log. A checkpoint says that nothing up to that position is left to
 * come; `caughtUp` that from here on events are delivered as they are written.
 */
export type SubscriptionItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caughtUp' };

/** Where to begin and what to hear. */
export interface SubscribeOptions {
  /** Events after this position. */
  readonly from: bigint | 'start';
  /** Stream names are `<category>-<id>`; only these categories are delivered. */
  readonly categories: readonly string[];
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/**
 * The event log. When it is away, every call but `subscribe` fails within 5 s with
 * `DomainError('unavailable', 'service_unavailable')`, and works again as soon as the log does.
 */
export interface EventStore {
  /** The stream's events from revision `from` (default 0) on; `[]` when the stream does not exist. */
  read(stream: string, options?: { readonly from?: bigint }): Promise<readonly RecordedEvent[]>;
  /**
   * Appends all events or none. Throws `RevisionConflict` when the stream is elsewhere, unless exactly these events
   * (by id) stand there already: then it answers as the first time. An unknown outcome is retried with the same ids and
   * the same revision for 4 s.
   */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<Appended>;
  /**
   * Catches up and then follows for ever; reconnects by itself from the last item. Ends when `signal` aborts. Throws
   * `PositionBeyondLog` when `from`, or the last item at a reconnect, lies beyond the log's last event. The first
   * `caughtUp` follows a checkpoint (or an event) at or after the position that `head()` had when it connected; later
   * checkpoints come seldom, and none comes at the head.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionItem>;
  /** The event at exactly this position, of any kind; null when none stands there. */
  eventAt(position: bigint): Promise<RecordedEvent | null>;
  /** Position of the log's last event, of any kind; null when the log is empty. */
  head(): Promise<bigint | null>;
  /** A real question to the leader; throws `unavailable` when it is not answered within a second. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
