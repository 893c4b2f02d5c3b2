import type { SqlRunner } from '@berth/persistence';

/** How far a relay had come, as its database remembers; null before the first event. */
export interface RelayProgress {
  /** Log position of the last event that the broker acknowledged. */
  readonly published: bigint | null;
  /** Log position up to which everything is published or not for publishing. */
  readonly scanned: bigint | null;
}

interface Row {
  readonly published_position: string | null;
  readonly scanned_position: string | null;
}

const toBigint = (text: string | null | undefined): bigint | null =>
  text === null || text === undefined ? null : BigInt(text);

/** One context's relay row. */
export class RelayCheckpoint {
  constructor(
    private readonly database: SqlRunner,
    private readonly context: string,
  ) {}

  async read(): Promise<RelayProgress> {
    const [row] = await this.database.query<Row>(
      'SELECT published_position, scanned_position FROM event_relay WHERE context = $1',
      [this.context],
    );
    return { published: toBigint(row?.published_position), scanned: toBigint(row?.scanned_position) };
  }

  async write({ published, scanned }: RelayProgress): Promise<void> {
    await this.database.query(
      `INSERT INTO event_relay (context, published_position, scanned_position) VALUES ($1, $2, $3)
       ON CONFLICT (context) DO UPDATE SET published_position = EXCLUDED.published_position,
         scanned_position = EXCLUDED.scanned_position, updated_at = now()`,
      [this.context, published?.toString() ?? null, scanned?.toString() ?? null],
    );
  }
}
