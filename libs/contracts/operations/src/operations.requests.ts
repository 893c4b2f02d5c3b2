import { defineRequest, type RequestDefinition } from '@berth/kernel';

/** How far a rebuild beside the serving tables has come. */
export interface RebuildProgress {
  /** Events applied so far. */
  readonly applied: number;
  /** Events there are to apply, estimated from the log positions passed; null until it can be told. */
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
  /** null while no rebuild runs in the instance that answers. */
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

/** What every service with projections answers about them. */
export interface OperationsRequests {
  /**
   * Every instance answers for itself: ask all and merge with `mergeProjections`. Asked of one only, it may be one
   * that knows nothing of a rebuild elsewhere.
   */
  readonly listProjections: RequestDefinition<
    Record<string, never>,
    { readonly items: readonly ProjectionView[] }
  >;
  /**
   * Starts a rebuild and answers at once; one that runs already in that instance is joined. Its progress is in `listProjections`.
   * Errors: not_found `projection_not_found`.
   */
  readonly rebuildProjection: RequestDefinition<RebuildProjection, ProjectionView>;
}

/** The requests as the service of `context` (`accounts`, `agents`, …) answers them. */
export const operationsRequests = (context: string): OperationsRequests => ({
  listProjections: defineRequest(`qry.${context}.projections.v1`, 4_000),
  rebuildProjection: defineRequest(`cmd.${context}.rebuild-projection.v1`, 10_000),
});
