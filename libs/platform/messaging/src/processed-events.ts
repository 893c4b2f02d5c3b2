import type { Database, SqlRunner } from '@berth/persistence';
import type { ProcessedEventsFloor, ProcessedEventsFloorOptions } from './processed-events-floor.js';

/** Rows outlive the stream's messages (7 days) by far; below the floor they are not needed. */
const KEEP_DAYS = 30;

/** The events that one consumer has processed. */
export class ProcessedEvents {
  private readonly database: Database;
  private readonly durable: string;

  constructor(
    { database, durable }: Pick<ProcessedEventsFloorOptions, 'database' | 'durable'>,
    private readonly floor: ProcessedEventsFloor,
  ) {
    this.database = database;
    this.durable = durable;
  }

  /** Runs `effect` and records the event atomically; returns false when it was recorded before. */
  async once(
    event: { id: string; position: bigint },
    effect: (tx: SqlRunner) => Promise<void>,
  ): Promise<boolean> {
    if (await this.floor.covers(event.position)) return false;
    return this.database.transaction(async (tx) => {
      if (!(await this.#record(tx, event, 'done'))) return false;
      await effect(tx);
      return true;
    });
  } /** Records that the event became a dead letter. */
  async deadLetter(event: { id: string; position: bigint }): Promise<void> {
    await this.#record(this.database, event, 'dead');
  }

  /**
   * Runs `effect` for a dead-lettered event and records that atomically; returns false when
   * it was processed before. Ignores the floor, which is past every dead letter.
   */
  async requeue(
    event: { id: string; position: bigint },
    effect: (tx: SqlRunner) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const updated = await tx.query(
        `UPDATE event_inbox SET outcome = 'done', handled_at = now()
         WHERE durable = $1 AND event_id = $2 AND outcome = 'dead' RETURNING 1`,
        [this.durable, event.id],
      );
      // The row may be missing: the delivery was interrupted after it stored the letter, or the row was pruned.
      if (updated.length === 0 && !(await this.#record(tx, event, 'done'))) return false;
      await effect(tx);
      return true;
    });
  }

  /** Deletes old rows that the floor covers. */
  async prune(): Promise<void> {
    await this.database.query(
      `DELETE FROM event_inbox WHERE durable = $1 AND handled_at < now() - make_interval(days => $2)
       AND position <= (SELECT floor_position FROM event_consumer WHERE durable = $1)`,
      [this.durable, KEEP_DAYS],
    );
  }

  async #record(
    tx: SqlRunner,
    event: { id: string; position: bigint },
    outcome: 'done' | 'dead',
  ): Promise<boolean> {
    const rows = await tx.query(
      `INSERT INTO event_inbox (durable, event_id, position, outcome) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [this.durable, event.id, event.position.toString(), outcome],
    );
    return rows.length > 0;
  }
}
