import { randomBytes } from 'node:crypto';
import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { PersonalData } from './personal-data.js';

/**
 * The vault of keys, one for each end user, wrapped by the operator's key. The event log holds personal data only
 * encrypted under these keys, so destroying a key makes the data of its end user unreadable.
 */
@Injectable()
export class PersonalKeys {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  /** Returns the personal data of an end user and makes its key if it has none; null if the key is destroyed. */
  async ensure(endUserId: string): Promise<PersonalData | null> {
    await this.database.query(
      `INSERT INTO end_users_vault.personal_keys (end_user_id, sealed_key) VALUES ($1, $2)
       ON CONFLICT (end_user_id) DO NOTHING`,
      [endUserId, this.box.seal(randomBytes(32).toString('base64'), endUserId)],
    );
    return this.find(endUserId);
  }

  /** Returns the personal data of an end user; null if it has no key. */
  async find(endUserId: string): Promise<PersonalData | null> {
    return (await openKeys(this.database, this.box, [endUserId])).get(endUserId) ?? null;
  }

  /** Once this returns, nothing in the event log reveals personal data of the end user. Idempotent. */
  async destroy(endUserId: string): Promise<void> {
    await this.database.query(
      `INSERT INTO end_users_vault.personal_keys (end_user_id, destroyed_at) VALUES ($1, now())
       ON CONFLICT (end_user_id) DO UPDATE SET sealed_key = NULL, destroyed_at = now()
       WHERE personal_keys.sealed_key IS NOT NULL`,
      [endUserId],
    );
  }
}

/** Returns the personal data of those of the end users that have a key. */
export const openKeys = async (
  tx: SqlRunner,
  box: SecretBox,
  endUserIds: readonly string[],
): Promise<ReadonlyMap<string, PersonalData>> => {
  const rows = await tx.query<{ id: string; sealed: string }>(
    `SELECT end_user_id AS id, sealed_key AS sealed FROM end_users_vault.personal_keys
     WHERE end_user_id = ANY($1) AND sealed_key IS NOT NULL`,
    [endUserIds],
  );
  return new Map(
    rows.map(({ id, sealed }) => [id, new PersonalData(id, Buffer.from(box.open(sealed, id), 'base64'))]),
  );
};
