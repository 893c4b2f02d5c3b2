import type { SqlRunner } from '@berth/persistence';
import type { RecordedEvent } from './event-store.js';

/**
 * A read model: tables derived from events, behind views that queries read. Table names carry a suffix
 * (`agent_list_v2`, `agent_list_v2b1`), so that a new version or a rebuild can be filled next to the serving tables.
 */
export interface Projection {
  readonly name: string;
  /** Increase it with every change of the tables or of `apply`; the tables are then built again. */
  readonly version: number;
  /** The categories of the streams it follows (`<category>-<id>`). */
  readonly categories: readonly string[];
  createTables(tx: SqlRunner, suffix: string): Promise<void>;
  /** Must tolerate missing tables, and views on them: a restored database has both (`DROP TABLE IF EXISTS … CASCADE`). */
  dropTables(tx: SqlRunner, suffix: string): Promise<void>;
  /** Points the serving views at the tables of that suffix. */
  publish(tx: SqlRunner, suffix: string): Promise<void>;
  /**
   * Changes rows by bulk statements. Events arrive in log order, each exactly once: the writes of `tx` are committed
   * together with the position or not at all.
   */
  apply(tx: SqlRunner, suffix: string, events: readonly RecordedEvent[]): Promise<void>;
}

/** Progress of a rebuild. Positions are in the log's own unit; only their ratio is meaningful. */
export interface RebuildProgress {
  /** Events applied so far. */
  readonly applied: number;
  readonly position: bigint;
  readonly head: bigint;
  readonly eventsPerSecond: number;
  /** Null until it can be estimated. */
  readonly secondsLeft: number | null;
}

/** Status of a projection. */
export interface ProjectionStatus {
  readonly name: string;
  /** The serving version; 0 when none serves yet. */
  readonly version: number;
  /** The serving tables contain the log up to this position; null when they are empty. */
  readonly position: bigint | null;
  /** Number of events not applied yet; counting stops at 10,000. */
  readonly lag: number;
  /** Whether tables are being built next to the serving ones. */
  readonly rebuilding: boolean;
}
