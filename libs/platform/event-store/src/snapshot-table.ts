import { createHash } from 'node:crypto';
import type { Database, SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';

/** The identity of a snapshot: one for each stream and version of the code that folds it. */
export interface SnapshotKey {
  readonly stream: string;
  readonly version: number;
}

/** A stream folded up to an event, as text. */
export interface StoredSnapshot {
  /** Revision of the last folded event. */
  readonly revision: bigint;
  /** Id of that event: the snapshot belongs only to a log that has this event at this revision. */
  readonly eventId: string;
  /** JSON. */
  readonly body: string;
}

interface SnapshotRow {
  readonly revision: string;
  readonly event_id: string;
  readonly body: string;
  readonly checksum: string;
}

const CREATE = `CREATE TABLE IF NOT EXISTS stream_snapshots (
  stream text NOT NULL,
  version integer NOT NULL,
  revision numeric(20) NOT NULL,
  event_id text NOT NULL,
  body text NOT NULL,
  checksum text NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (stream, version))`;

/**
 * The table `stream_snapshots` of a service's schema: a cache of folded streams that may be truncated at any time. It
 * is created on first use.
 */
export class SnapshotTable {
  #ensured: Promise<void> | undefined;

  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction' | 'schema'>,
    readonly log: Logger,
  ) {}

  /** Returns undefined when there is no snapshot or its checksum is wrong. */
  async find(key: SnapshotKey): Promise<StoredSnapshot | undefined> {
    await this.#ensure();
    const [row] = await this.database.query<SnapshotRow>(
      `SELECT revision::text AS revision, event_id, body, checksum FROM stream_snapshots
       WHERE stream = $1 AND version = $2`,
      [key.stream, key.version],
    );
    if (row === undefined) return undefined;
    const found = { revision: BigInt(row.revision), eventId: row.event_id, body: row.body };
    return checksumOf(key, found) === row.checksum ? found : undefined;
  }

  /**
   * Replaces the stream's snapshot, also one of a higher revision: that one may belong to a log that was replaced.
   * Drops the snapshots of earlier versions.
   */
  async save(key: SnapshotKey, snapshot: StoredSnapshot): Promise<void> {
    await this.#ensure();
    const { revision, eventId, body } = snapshot;
    await this.database.query(
      `WITH outdated AS (DELETE FROM stream_snapshots WHERE stream = $1 AND version < $2)
       INSERT INTO stream_snapshots (stream, version, revision, event_id, body, checksum)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (stream, version) DO UPDATE SET revision = excluded.revision, event_id = excluded.event_id,
         body = excluded.body, checksum = excluded.checksum, written_at = now()`,
      [key.stream, key.version, revision.toString(), eventId, body, checksumOf(key, snapshot)],
    );
  }

  #ensure(): Promise<void> {
    this.#ensured ??= this.#create().catch((error: unknown) => {
      this.#ensured = undefined;
      throw error;
    });
    return this.#ensured;
  }

  async #create(): Promise<void> {
    const [row] = await this.database.query<{ there: boolean }>(
      `SELECT to_regclass('stream_snapshots') IS NOT NULL AS there`,
    );
    if (row?.there === true) return;
    await this.database.transaction(async (tx: SqlRunner) => {
      // CREATE TABLE IF NOT EXISTS fails when two sessions run it at the same time.
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `stream_snapshots:${this.database.schema}`,
      ]);
      await tx.query(CREATE);
    });
  }
}

const checksumOf = ({ stream, version }: SnapshotKey, { revision, eventId, body }: StoredSnapshot): string =>
  createHash('sha256')
    .update(JSON.stringify([stream, version, revision.toString(), eventId]))
    .update(body)
    .digest('base64url');
