import type { Database, SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { isInLog, isMissingFromLog, type LogMark, type MarkedLog } from './log-mark.js';

/** Minimum interval between two comparisons of the floor with the log. */
const COMPARED_MS = 1_000;

export interface ProcessedEventsFloorOptions {
  readonly database: Database;
  readonly durable: string;
  readonly store: MarkedLog;
  readonly log: Logger;
  /** Called in the transaction that lowers the floor to `position`; discards what was derived from later events. */
  readonly forgetAfter?: ((position: bigint | null, tx: SqlRunner) => Promise<void>) | undefined;
}

/**
 * The position up to which a consumer has handled every event. A floor belongs to one log: if the log is replaced or
 * restored from a backup, events below the floor may be new, so it is lowered to the last event that both logs contain.
 */
export class ProcessedEventsFloor {
  #mark: LogMark | null = null;
  #comparedAt = 0;

  constructor(private readonly options: ProcessedEventsFloorOptions) {}

  get mark(): LogMark | null {
    return this.#mark;
  }

  async load(): Promise<void> {
    const { database, durable, store } = this.options;
    const [row] = await database.query<{ floor_position: string; floor_event: string | null }>(
      'SELECT floor_position, floor_event FROM event_consumer WHERE durable = $1',
      [durable],
    );
    this.#mark = null;
    if (row === undefined) return;
    const position = BigInt(row.floor_position);
    // Earlier versions stored no event id with the floor; then the log is taken to be the right one.
    const eventId = row.floor_event ?? (await store.eventAt(position))?.id ?? '';
    this.#mark = { position, eventId };
    await this.#compare();
  }

  /** Whether the event at this position of the current log was handled, because it is at or below the floor. */
  async covers(position: bigint): Promise<boolean> {
    if (this.#mark === null || position > this.#mark.position) return false;
    if (Date.now() - this.#comparedAt > COMPARED_MS) await this.#compare();
    return this.#mark !== null && position <= this.#mark.position;
  }

  /** A lower floor than before is ignored. */
  async raise(mark: LogMark): Promise<void> {
    if (this.#mark !== null && mark.position <= this.#mark.position) return;
    const { database, durable } = this.options;
    const [row] = await database.query<{ floor_position: string; floor_event: string }>(
      `INSERT INTO event_consumer AS kept (durable, floor_position, floor_event) VALUES ($1, $2, $3)
       ON CONFLICT (durable) DO UPDATE SET updated_at = now(),
         floor_position = GREATEST(kept.floor_position, EXCLUDED.floor_position),
         floor_event = CASE WHEN kept.floor_position > EXCLUDED.floor_position
                       THEN kept.floor_event ELSE EXCLUDED.floor_event END
       RETURNING floor_position, floor_event`,
      [durable, mark.position.toString(), mark.eventId],
    );
    if (row !== undefined) this.#mark = { position: BigInt(row.floor_position), eventId: row.floor_event };
  }

  async #compare(): Promise<void> {
    const { store } = this.options;
    const mark = this.#mark;
    if (mark !== null && (await isMissingFromLog(store, mark))) await this.#lower(mark);
    this.#comparedAt = Date.now();
  }

  async #lower(from: LogMark): Promise<void> {
    const { database, durable, log, forgetAfter } = this.options;
    const common = await this.#lastCommon(from);
    log.error(
      { durable, floor: String(from.position), common: String(common?.position ?? null) },
      'The log was replaced or restored: the consumer handles the events after the last common one again.',
    );
    await database.transaction(async (tx) => {
      if (await storeLowered(tx, durable, from, common)) await forgetAfter?.(common?.position ?? null, tx);
    });
    this.#mark = common;
  }

  /** Finds the last processed event that the log still has; the older ones are in the log as well. */
  async #lastCommon(floor: LogMark): Promise<LogMark | null> {
    const { database, durable, store } = this.options;
    const [total] = await database.query<{ count: string }>(
      'SELECT count(*) FROM event_inbox WHERE durable = $1 AND position <= $2',
      [durable, floor.position.toString()],
    );
    let common: LogMark | null = null;
    for (let low = 0, high = Number(total?.count ?? 0); low < high;) {
      const middle = Math.floor((low + high) / 2);
      const [row] = await database.query<{ position: string; event_id: string }>(
        `SELECT position, event_id FROM event_inbox WHERE durable = $1 AND position <= $2
         ORDER BY position OFFSET $3 LIMIT 1`,
        [durable, floor.position.toString(), middle],
      );
      const mark = row && { position: BigInt(row.position), eventId: row.event_id };
      if (mark !== undefined && (await isInLog(store, mark))) {
        common = mark;
        low = middle + 1;
      } else high = middle;
    }
    return common;
  }
}

/** Returns false, without a change, if another instance has already moved the floor. */
const storeLowered = async (
  tx: SqlRunner,
  durable: string,
  from: LogMark,
  to: LogMark | null,
): Promise<boolean> => {
  const floor = [durable, from.position.toString()];
  const rows =
    to === null
      ? await tx.query(
          'DELETE FROM event_consumer WHERE durable = $1 AND floor_position = $2 RETURNING 1',
          floor,
        )
      : await tx.query(
          `UPDATE event_consumer SET floor_position = $3, floor_event = $4, updated_at = now()
           WHERE durable = $1 AND floor_position = $2 RETURNING 1`,
          [...floor, to.position.toString(), to.eventId],
        );
  return rows.length > 0;
};
