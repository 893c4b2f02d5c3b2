import { defineRequest, type Page, type RequestDefinition } from '@berth/kernel';
import type { PageRequest } from '../schema/index.js';

/** Progress of a rebuild next to the serving tables. */
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
  /** The log position that is applied: a decimal number, above 2^53 too; null when nothing is yet. */
  readonly position: string | null;
  /** Events not applied yet; counting stops at 10,000. */
  readonly lag: number;
  /** null while no rebuild runs in the instance that responds. */
  readonly rebuilding: RebuildProgress | null;
  /** How the last rebuild since the service's start ended; null without one. */
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
  /** The same for an event and its consumer, also after a replay that failed again. */
  readonly id: string;
  readonly service: string;
  readonly consumer: string;
  readonly eventId: string;
  /** `evt.<context>.<past-tense>.v<n>.<account>.<id>`; empty for a message that was no event. */
  readonly subject: string;
  /** The code and message of the last failure, without secrets. */
  readonly reason: string;
  readonly deliveries: number;
  /** ISO 8601; when it became a dead letter, the last time. */
  readonly at: string;
}

/** `cursor` is the `nextCursor` of this service's page before; null begins. */
export type ListDeadLetters = PageRequest;

export interface DeadLetterRef {
  readonly id: string;
}

/** Results of a service's probes of its dependencies; null: it has no such dependency. */
export interface ServiceHealth {
  readonly eventStore: boolean | null;
  readonly postgres: boolean | null;
  /** Whether JetStream responds and has what the service needs; null for a service without streams. */
  readonly jetStream: boolean | null;
  /** null while they cannot be counted. */
  readonly deadLetters: number | null;
  /** Background work that failed and has not run for 5 s since; absent in the response of an older release. */
  readonly failing?: readonly { readonly work: string; /** Without secrets. */ readonly error: string }[];
}

/** What every service returns to operators about itself. */
export interface OperationsRequests {
  /** Returns within 0.8 s, also while parts are silent. */
  readonly health: RequestDefinition<Record<string, never>, ServiceHealth>;
  /** The oldest first. Errors: invalid `invalid_request` for a bad cursor. */
  readonly listDeadLetters: RequestDefinition<ListDeadLetters, Page<DeadLetterView>>;
  /**
   * Has the event handled again and returns once that is over, or after 2 s while it goes on; the letter is gone when
   * it succeeded. Repeating it never acts twice. Errors: not_found `dead_letter_not_found`.
   */
  readonly replayDeadLetter: RequestDefinition<DeadLetterRef, Record<string, never>>;
  /** Errors: not_found `dead_letter_not_found`. */
  readonly deleteDeadLetter: RequestDefinition<DeadLetterRef, Record<string, never>>;
  /**
   * Every instance responds separately: ask all and merge with `mergeProjections`. A single response may be from one
   * that knows nothing of a rebuild elsewhere.
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
