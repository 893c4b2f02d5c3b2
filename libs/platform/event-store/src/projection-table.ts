import type { Database, SqlRunner } from '@berth/persistence';

/** `serving`: the views read these tables; `building`: being filled next to them; `retired`: to be dropped. */
export type BuildState = 'serving' | 'building' | 'retired';

/** One set of tables of a projection. */
export interface Build {
  readonly version: number;
  readonly build: number;
  readonly suffix: string;
  /** The log is applied up to this position; null before the first event. */
  readonly position: bigint | null;
  readonly state: BuildState;
}

/** The checkpoint is not the one that this writer stored: another writer has taken over. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
}

interface BuildRow {
  readonly version: number;
  readonly build: number;
  readonly suffix: string;
  readonly position: string;
  readonly state: BuildState;
}

const COLUMNS = 'version, build, suffix, position::text AS position, state';

/** The stored form of "no position yet"; positions of a log start at 0. */
const NOTHING = -1n;

const toBuild = ({ position, ...row }: BuildRow): Build => {
  const value = BigInt(position);
  return { ...row, position: value === NOTHING ? null : value };
};

const toColumn = (position: bigint | null): string => (position ?? NOTHING).toString();

/** The table name suffix of a build. */
export const suffixOf = (version: number, build: number): string =>
  build === 0 ? `v${version}` : `v${version}b${build}`;

/** The rows of one projection in its schema's `projections` table. */
export class ProjectionTable {
  #ensured: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    readonly name: string,
  ) {}

  /** Creates the table if it is missing. */
  ensure(): Promise<void> {
    this.#ensured ??= this.#create().catch((error: unknown) => {
      this.#ensured = undefined;
      throw error;
    });
    return this.#ensured;
  }

  async builds(tx: SqlRunner = this.database): Promise<readonly Build[]> {
    const sql = `SELECT ${COLUMNS} FROM projections WHERE name = $1 ORDER BY version, build`;
    return (await tx.query<BuildRow>(sql, [this.name])).map(toBuild);
  }

  async serving(tx: SqlRunner = this.database): Promise<Build | undefined> {
    return (await this.builds(tx)).find(({ state }) => state === 'serving');
  }

  /** Reads and locks the serving row: its checkpoint cannot move until `tx` ends. */
  async lockServing(tx: SqlRunner): Promise<Build | undefined> {
    const sql = `SELECT ${COLUMNS} FROM projections WHERE name = $1 AND state = 'serving' FOR UPDATE`;
    const [row] = await tx.query<BuildRow>(sql, [this.name]);
    return row === undefined ? undefined : toBuild(row);
  }

  async insert(tx: SqlRunner, version: number, build: number, state: BuildState): Promise<Build> {
    const row: Build = { version, build, suffix: suffixOf(version, build), position: null, state };
    await tx.query(
      'INSERT INTO projections (name, version, build, suffix, position, state) VALUES ($1, $2, $3, $4, $5, $6)',
      [this.name, version, build, row.suffix, toColumn(null), state],
    );
    return row;
  }

  async setState(tx: SqlRunner, { version, build }: Build, state: BuildState): Promise<void> {
    await tx.query(
      'UPDATE projections SET state = $4, updated_at = now() WHERE name = $1 AND version = $2 AND build = $3',
      [this.name, version, build, state],
    );
  }

  async remove(tx: SqlRunner, { version, build }: Build): Promise<void> {
    await tx.query('DELETE FROM projections WHERE name = $1 AND version = $2 AND build = $3', [
      this.name,
      version,
      build,
    ]);
  }

  /**
   * Moves the checkpoint from `build.position` to `to`; throws `CheckpointMoved` if it is somewhere else. Locks the row
   * until `tx` ends, so that only one of two writers continues.
   */
  async advance(tx: SqlRunner, build: Build, to: bigint): Promise<void> {
    const rows = await tx.query(
      `UPDATE projections SET position = $5, updated_at = now()
       WHERE name = $1 AND version = $2 AND build = $3 AND position = $4 AND state = $6
       RETURNING 1`,
      [this.name, build.version, build.build, toColumn(build.position), to.toString(), build.state],
    );
    if (rows.length === 0)
      throw new CheckpointMoved(`Another process moved the checkpoint of ${this.name} ${build.suffix}.`);
  }

  async #create(): Promise<void> {
    // Even CREATE INDEX IF NOT EXISTS waits for a transaction that writes a checkpoint, and blocks others behind it.
    const [row] = await this.database.query<{ there: boolean }>(
      `SELECT to_regclass('projections_one_serves') IS NOT NULL AS there`,
    );
    if (row?.there === true) return;
    await this.database.transaction(async (tx) => {
      // CREATE … IF NOT EXISTS fails when two sessions run it at the same time.
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `projections:${this.database.schema}`,
      ]);
      await tx.query(`CREATE TABLE IF NOT EXISTS projections (
        name text NOT NULL,
        version integer NOT NULL,
        build integer NOT NULL,
        suffix text NOT NULL,
        position numeric(20) NOT NULL,
        state text NOT NULL CHECK (state IN ('serving', 'building', 'retired')),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (name, version, build)
      )`);
      await tx.query(
        `CREATE UNIQUE INDEX IF NOT EXISTS projections_one_serves ON projections (name) WHERE state = 'serving'`,
      );
    });
  }
}
