import type { Projection } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import type { KeyMinted, KeyRevoked, KeyScopesExtended } from '../key/key.js';
import { keyCodec } from '../key/key.events.js';

const tableOf = (suffix: string): string => `key_list_${suffix}`;

/** Every key that was ever minted; `key_list` is the view that queries read. */
export const keyListProjection: Projection = {
  name: 'key-list',
  version: 1,
  categories: [keyCodec.category],

  async createTables(tx, suffix) {
    const table = tableOf(suffix);
    // Ids sort byte by byte, whatever the collation of the database.
    await tx.query(`
      CREATE TABLE ${table} (
        id text COLLATE "C" PRIMARY KEY,
        account_id text NOT NULL,
        name text NOT NULL,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz
      )`);
    await tx.query(`CREATE INDEX ON ${table} (account_id, id)`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${tableOf(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query(`
      CREATE OR REPLACE VIEW key_list AS
      SELECT id, account_id, name, scopes, created_at, expires_at, revoked_at FROM ${tableOf(suffix)}`);
  },

  async apply(tx, suffix, recorded) {
    const events = recorded.map((event) => keyCodec.fromStored(event));
    await insertMinted(
      tx,
      suffix,
      events.filter((event) => event.type === 'KeyMinted'),
    );
    await setScopes(
      tx,
      suffix,
      events.filter((event) => event.type === 'KeyScopesExtended'),
    );
    // A key is revoked after it was minted, never the other way round.
    await markRevoked(
      tx,
      suffix,
      events.filter((event) => event.type === 'KeyRevoked'),
    );
  },
};

const insertMinted = async (tx: SqlRunner, suffix: string, keys: readonly KeyMinted[]): Promise<void> => {
  if (keys.length === 0) return;
  // JSON, because `unnest` would flatten the arrays of scopes.
  await tx.query(
    `INSERT INTO ${tableOf(suffix)} (id, account_id, name, scopes, created_at, expires_at)
     SELECT "keyId", "accountId", name, scopes, "mintedAt", "expiresAt"
     FROM jsonb_to_recordset($1::jsonb) AS minted (
       "keyId" text, "accountId" text, name text, scopes text[], "mintedAt" timestamptz, "expiresAt" timestamptz
     )
     ON CONFLICT (id) DO NOTHING`,
    [JSON.stringify(keys)],
  );
};

// Scopes are only ever added, so the last event of a key lists all of them.
const setScopes = async (
  tx: SqlRunner,
  suffix: string,
  keys: readonly KeyScopesExtended[],
): Promise<void> => {
  for (const { keyId, scopes } of keys)
    await tx.query(`UPDATE ${tableOf(suffix)} SET scopes = $2 WHERE id = $1`, [keyId, scopes]);
};

const markRevoked = async (tx: SqlRunner, suffix: string, keys: readonly KeyRevoked[]): Promise<void> => {
  if (keys.length === 0) return;
  await tx.query(
    `UPDATE ${tableOf(suffix)} listed SET revoked_at = revoked.at
     FROM unnest($1::text[], $2::timestamptz[]) AS revoked (id, at)
     WHERE listed.id = revoked.id`,
    [keys.map(({ keyId }) => keyId), keys.map(({ revokedAt }) => revokedAt)],
  );
};
