import type { SqlRunner } from '@berth/persistence';
import type { RecordedEvent } from './event-store.js';

/**
 * A read model: tables made from events, behind views that queries read. Tables carry a suffix in their name
 * (`agent_list_v2`, `agent_list_v2b1`), so that a new version or a rebuild can grow beside the ones that serve.
 */
export interface Projection {
  readonly name: string;
  /** Grows with every change of the tables or of what `apply` makes of events; then all is built anew. */
  readonly version: number;
  /** Which streams it follows (`<category>-<id>`). */
  readonly categories: readonly string[];
  createTables(tx: SqlRunner, suffix: string): Promise<void>;
  /** Must not mind tables that are missing (`DROP TABLE IF EXISTS`). */
  dropTables(tx: SqlRunner, suffix: string): Promise<void>;
  /** Points the serving views at the tables of that suffix. */
  publish(tx: SqlRunner, suffix: string): Promise<void>;
  /**
   * Changes rows by bulk statements. Events arrive in the order of the log, each exactly once: what `tx` writes is
   * committed together with the position, or not at all.
   */
  apply(tx: SqlRunner, suffix: string, events: readonly RecordedEvent[]): Promise<void>;
}

/** How far a rebuild is. Positions are the log's own measure; only their ratio says something. */
export interface RebuildProgress {
  /** Events applied so far. */
  readonly applied: number;
  readonly position: bigint;
  readonly head: bigint;
  readonly eventsPerSecond: number;
  /** Null until it can be told. */
  readonly secondsLeft: number | null;
}

/** How a projection stands. */
export interface ProjectionStatus {
  readonly name: string;
  /** Version that serves; 0 when nothing serves yet. */
  readonly version: number;
  /** Up to here the serving tables know the log; null when they know nothing. */
  readonly position: bigint | null;
  /** Events not applied yet; counting stops at 10,000. */
  readonly lag: number;
  /** Whether other tables are being built beside the serving ones. */
  readonly rebuilding: boolean;
}
