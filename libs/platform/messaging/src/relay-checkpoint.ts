import type { SqlRunner } from '@berth/persistence';
import type { LogMark } from './log-mark.js';

/** The stored progress of a relay; null before the first event. */
export interface RelayProgress {
  /** The last event that the broker acknowledged. */
  readonly published: LogMark | null;
  /** Everything up to this position is published or private. */
  readonly scanned: LogMark | null;
}

interface Row {
  readonly published_position: string | null;
  readonly published_event: string | null;
  readonly scanned_position: string | null;
  readonly scanned_event: string | null;
}

/**
 * Positions of earlier versions have no event id and count as unknown, because they cannot be compared with the log.
 */
const toMark = (position: string | null | undefined, eventId: string | null | undefined): LogMark | null =>
  position === null || position === undefined || eventId === null || eventId === undefined
    ? null
    : { position: BigInt(position), eventId };

/** One context's relay row. */
export class RelayCheckpoint {
  constructor(
    private readonly database: SqlRunner,
    private readonly context: string,
  ) {}

  async read(): Promise<RelayProgress> {
    const [row] = await this.database.query<Row>(
      `SELECT published_position, published_event, scanned_position, scanned_event
       FROM event_relay WHERE context = $1`,
      [this.context],
    );
    return {
      published: toMark(row?.published_position, row?.published_event),
      scanned: toMark(row?.scanned_position, row?.scanned_event),
    };
  }

  async write({ published, scanned }: RelayProgress): Promise<void> {
    await this.database.query(
      `INSERT INTO event_relay (context, published_position, published_event, scanned_position, scanned_event)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (context) DO UPDATE SET
         published_position = EXCLUDED.published_position, published_event = EXCLUDED.published_event,
         scanned_position = EXCLUDED.scanned_position, scanned_event = EXCLUDED.scanned_event,
         updated_at = now()`,
      [
        this.context,
        published?.position.toString() ?? null,
        published?.eventId ?? null,
        scanned?.position.toString() ?? null,
        scanned?.eventId ?? null,
      ],
    );
  }
}
