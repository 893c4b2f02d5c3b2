import { randomBytes } from 'node:crypto';
import type { SecretBox, SqlRunner } from '@berth/persistence';
import { PersonalKey } from './personal-key.js';

/** Creates a vault of keys. The key of a deleted end user is NULL; its row stays, so that a command in flight adds no key. */
export const createPersonalKeyVault = async (tx: SqlRunner, table: string): Promise<void> => {
  await tx.query(`
    CREATE TABLE ${table} (
      end_user_id text COLLATE "C" PRIMARY KEY,
      sealed_key text,
      destroyed_at timestamptz,
      CHECK ((sealed_key IS NULL) = (destroyed_at IS NOT NULL))
    )`);
};

/** The keys of end users in one table of a service, wrapped by the operator's key. */
export class PersonalKeyVault {
  constructor(
    private readonly database: SqlRunner,
    private readonly box: SecretBox,
    private readonly table: string,
  ) {}

  /** Returns the key of an end user and makes one if there is none; null if it was destroyed. */
  ensure(endUserId: string): Promise<PersonalKey | null> {
    return this.keep(new PersonalKey(endUserId, randomBytes(32)));
  }

  /** Stores the key unless there is one; returns the stored one, null if it was destroyed. */
  async keep({ endUserId, bytes }: PersonalKey): Promise<PersonalKey | null> {
    await this.database.query(
      `INSERT INTO ${this.table} (end_user_id, sealed_key) VALUES ($1, $2) ON CONFLICT (end_user_id) DO NOTHING`,
      [endUserId, this.box.seal(Buffer.from(bytes).toString('base64'), endUserId)],
    );
    return (await this.find(endUserId)) ?? null;
  }

  /** Returns null if the key was destroyed, undefined if there never was one. */
  async find(endUserId: string): Promise<PersonalKey | null | undefined> {
    const [row] = await this.rows(this.database, [endUserId]);
    return row === undefined ? undefined : this.opened(row);
  }

  /** Returns the keys of those of the end users that have one, read in `tx`. */
  async findAll(tx: SqlRunner, endUserIds: readonly string[]): Promise<ReadonlyMap<string, PersonalKey>> {
    const keys = new Map<string, PersonalKey>();
    if (endUserIds.length === 0) return keys;
    for (const row of await this.rows(tx, endUserIds)) {
      const key = this.opened(row);
      if (key !== null) keys.set(row.id, key);
    }
    return keys;
  }

  /** Once this returns, this vault holds no key of the end user and takes none. Idempotent. */
  async destroy(endUserId: string): Promise<void> {
    await this.database.query(
      `INSERT INTO ${this.table} AS kept (end_user_id, destroyed_at) VALUES ($1, now())
       ON CONFLICT (end_user_id) DO UPDATE SET sealed_key = NULL, destroyed_at = now()
       WHERE kept.sealed_key IS NOT NULL`,
      [endUserId],
    );
  }

  private rows(tx: SqlRunner, endUserIds: readonly string[]): Promise<Row[]> {
    return tx.query<Row>(
      `SELECT end_user_id AS id, sealed_key AS sealed FROM ${this.table} WHERE end_user_id = ANY($1)`,
      [endUserIds],
    );
  }

  private opened({ id, sealed }: Row): PersonalKey | null {
    return sealed === null ? null : new PersonalKey(id, Buffer.from(this.box.open(sealed, id), 'base64'));
  }
}

interface Row {
  readonly id: string;
  readonly sealed: string | null;
}
