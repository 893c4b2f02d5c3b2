import type { Database, SqlRunner } from '@berth/persistence';
import { metrics } from '@berth/telemetry';
import type { EventBatch } from './event-batches.js';
import type { RecordedEvent } from './event-store.js';
import type { Projection } from './projection.js';
import type { Build, ProjectionTable } from './projection-table.js';

/** A batch of thousands of events may take longer than a request may. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** A batch of at most this many events fits the default statement time-out, and costs less than planning its statements. */
const FEW_EVENTS = 100;

/** Minimum interval between checkpoints without events, which only shorten the catch-up after a restart. */
const BARE_CHECKPOINT_MS = 1_000;

const appliedEvents = metrics.counter('berth_projection_events', 'Events applied to projections.', [
  'projection',
]);

const lagSeconds = metrics.gauge(
  'berth_projection_lag_seconds',
  'Age of the last event when its projection applied it.',
  ['projection'],
);

/** Writes batches into one build: rows and checkpoint in one transaction, which the checkpoint itself fences. */
export class ProjectionWriter {
  #build: Build;
  #writtenAt = 0;
  #applied = 0;
  /** The subscription has passed this position, whether or not that was written. */
  #looked = -1n;

  constructor(
    private readonly database: Database,
    private readonly table: ProjectionTable,
    private readonly projection: Projection,
    build: Build,
  ) {
    this.#build = build;
  }

  /** The build as stored in the database after the last write. */
  get build(): Build {
    return this.#build;
  }

  get position(): bigint | null {
    return this.#build.position;
  }

  /** Events applied by this writer. */
  get applied(): number {
    return this.#applied;
  }

  /** Throws `CheckpointMoved` and writes nothing when another process has written to this build. */
  async write(batch: EventBatch): Promise<void> {
    const step = this.#stepOf(batch);
    if (step === undefined) return;
    const idle = step.events.length === 0 && !batch.caughtUp;
    if (idle && Date.now() - this.#writtenAt < BARE_CHECKPOINT_MS) return;
    // Setting another time-out costs a round trip.
    const options =
      step.events.length > FEW_EVENTS ? { statementTimeoutMs: STATEMENT_TIMEOUT_MS } : { prepared: true };
    await this.database.transaction((tx) => this.#apply(tx, step), options);
    this.#advanced(step);
  }

  /** Writes as part of `tx`. If `tx` does not commit, this writer must not be used again. */
  async writeWithin(tx: SqlRunner, batch: EventBatch): Promise<void> {
    const step = this.#stepOf(batch);
    if (step === undefined) return;
    await this.#apply(tx, step);
    this.#advanced(step);
  }

  /** Skips events that this build already contains: a store may deliver one again. */
  #stepOf({ events, position }: EventBatch): Step | undefined {
    let reached = this.position ?? -1n;
    const fresh: RecordedEvent[] = [];
    for (const event of events) {
      if (event.position <= reached) continue;
      fresh.push(event);
      reached = event.position;
    }
    if (position !== null && position > this.#looked) this.#looked = position;
    if (this.#looked > reached) reached = this.#looked;
    return reached === (this.position ?? -1n) ? undefined : { events: fresh, to: reached };
  }

  async #apply(tx: SqlRunner, { events, to }: Step): Promise<void> {
    // The checkpoint comes first: it locks the row, so that a second writer waits here and then finds it moved.
    await this.table.advance(tx, this.#build, to);
    if (events.length > 0) await this.projection.apply(tx, this.#build.suffix, events);
  }

  #advanced({ events, to }: Step): void {
    this.#build = { ...this.#build, position: to };
    this.#writtenAt = Date.now();
    this.#applied += events.length;
    const last = events.at(-1);
    if (last === undefined) return;
    const labels = { projection: this.projection.name };
    appliedEvents.inc(labels, events.length);
    lagSeconds.set(Math.max(0, Date.now() - last.createdAt.getTime()) / 1000, labels);
  }
}

interface Step {
  readonly events: readonly RecordedEvent[];
  readonly to: bigint;
}
