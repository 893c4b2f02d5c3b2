import { defineRequest, type Page, type RequestDefinition } from '@berth/kernel';
import type { PageRequest } from '../schema/index.js';

/** Progress of a rebuild, which fills new tables next to those in use. */
export interface RebuildProgress {
  /** Events applied so far. */
  readonly applied: number;
  /** Number of events to apply, estimated from the log positions passed; null until known. */
  readonly total: number | null;
  readonly eventsPerSecond: number;
  /** null until the rate is known. */
  readonly secondsLeft: number | null;
}

/** One projection of one service. */
export interface ProjectionView {
  readonly name: string;
  readonly service: string;
  readonly version: number;
  /**
   * The log position up to which events are applied: a decimal number that may exceed 2^53; null before the first
   * event.
   */
  readonly position: string | null;
  /** Events not applied yet; counting stops at 10,000. */
  readonly lag: number;
  /** null while no rebuild runs in the instance that responds. */
  readonly rebuilding: RebuildProgress | null;
  /** The outcome of the last rebuild since the service's start; null without one. */
  readonly lastRebuild: {
    readonly outcome: 'completed' | 'failed';
    /** ISO 8601 */ readonly at: string;
  } | null;
}

export interface RebuildProjection {
  readonly name: string;
}

/** An event that a consumer could not handle. Never its payload, which may be personal. */
export interface DeadLetterView {
  /** Identifies the event and its consumer: the id stays the same when a replay fails. */
  readonly id: string;
  readonly service: string;
  readonly consumer: string;
  readonly eventId: string;
  /** `evt.<context>.<past-tense>.v<n>.<account>.<id>`; empty for a message that was not an event. */
  readonly subject: string;
  /** The code and message of the last failure, without secrets. */
  readonly reason: string;
  readonly deliveries: number;
  /** ISO 8601: when the event last became a dead letter. */
  readonly at: string;
}

/** `cursor` is the `nextCursor` of this service's previous page; null for the first page. */
export type ListDeadLetters = PageRequest;

export interface DeadLetterRef {
  readonly id: string;
}

/** Results of a service's probes of its dependencies; null if it does not have the dependency. */
export interface ServiceHealth {
  readonly eventStore: boolean | null;
  readonly postgres: boolean | null;
  /** Whether JetStream responds and has what the service needs; null for a service without streams. */
  readonly jetStream: boolean | null;
  /** null while they cannot be counted. */
  readonly deadLetters: number | null;
  /**
   * Background work that failed and has not yet run for 5 s without another failure; absent in the response of an older
   * release.
   */
  readonly failing?: readonly { readonly work: string; /** Without secrets. */ readonly error: string }[];
}

/** The requests with which operators inspect and repair one service. */
export interface OperationsRequests {
  /** Returns within 0.8 s, even if dependencies do not respond. */
  readonly health: RequestDefinition<Record<string, never>, ServiceHealth>;
  /** Oldest first. Errors: invalid `invalid_request` for a bad cursor. */
  readonly listDeadLetters: RequestDefinition<ListDeadLetters, Page<DeadLetterView>>;
  /**
   * Handles the event again. Returns when that ends, or after 2 s while it continues. Success deletes the dead letter.
   * Idempotent. Errors: not_found `dead_letter_not_found`.
   */
  readonly replayDeadLetter: RequestDefinition<DeadLetterRef, Record<string, never>>;
  /** Errors: not_found `dead_letter_not_found`. */
  readonly deleteDeadLetter: RequestDefinition<DeadLetterRef, Record<string, never>>;
  /**
   * Every instance responds separately: collect all responses and merge them with `mergeProjections`, because an
   * instance knows only of rebuilds that it runs itself.
   */
  readonly listProjections: RequestDefinition<
    Record<string, never>,
    { readonly items: readonly ProjectionView[] }
  >;
  /**
   * Starts a rebuild and returns immediately; joins one that runs in that instance. Its progress is in
   * `listProjections`. Errors: not_found `projection_not_found`.
   */
  readonly rebuildProjection: RequestDefinition<RebuildProjection, ProjectionView>;
}

/** The requests as the service of `context` (`accounts`, `agents`, …) handles them. */
export const operationsRequests = (context: string): OperationsRequests => ({
  listProjections: defineRequest(`qry.${context}.projections.v1`, 4_000),
  rebuildProjection: defineRequest(`cmd.${context}.rebuild-projection.v1`, 10_000),
  health: defineRequest(`qry.${context}.health.v1`, 900),
  listDeadLetters: defineRequest(`qry.${context}.dead-letters.v1`),
  replayDeadLetter: defineRequest(`cmd.${context}.replay-dead-letter.v1`),
  deleteDeadLetter: defineRequest(`cmd.${context}.delete-dead-letter.v1`),
});
