import type { Projection, RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { accountCodec } from '../account/account.events.js';

const tableOf = (suffix: string): string => `account_list_${suffix}`;

/** Every account; `account_list` is the view that queries read. */
export const accountListProjection: Projection = {
  name: 'account-list',
  version: 1,
  categories: [accountCodec.category],

  async createTables(tx, suffix) {
    // Ids sort byte by byte, whatever the collation of the database.
    await tx.query(`
      CREATE TABLE ${tableOf(suffix)} (
        id text COLLATE "C" PRIMARY KEY,
        name text NOT NULL,
        plan_id text NOT NULL,
        suspended_at timestamptz,
        created_at timestamptz NOT NULL,
        revision bigint NOT NULL
      )`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${tableOf(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query(`
      CREATE OR REPLACE VIEW account_list AS
      SELECT id, name, plan_id, suspended_at, created_at, revision FROM ${tableOf(suffix)}`);
  },

  // One statement per event: accounts change seldom.
  async apply(tx, suffix, recorded) {
    for (const event of recorded) await applyOne(tx, tableOf(suffix), event);
  },
};

const applyOne = async (tx: SqlRunner, table: string, recorded: RecordedEvent): Promise<void> => {
  const event = accountCodec.fromStored(recorded);
  const revision = recorded.revision.toString();
  const set = (columns: string, values: readonly unknown[]): Promise<unknown> =>
    tx.query(`UPDATE ${table} SET revision = $2, ${columns} WHERE id = $1 AND revision < $2`, [
      event.accountId,
      revision,
      ...values,
    ]);
  switch (event.type) {
    case 'AccountOpened.v2':
      await tx.query(
        `INSERT INTO ${table} (id, name, plan_id, created_at, revision) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO NOTHING`,
        [event.accountId, event.name, event.plan, event.openedAt, revision],
      );
      return;
    case 'AccountChanged':
      await set('name = $3, plan_id = $4', [event.name, event.plan]);
      return;
    case 'AccountSuspended':
      await set('suspended_at = $3', [event.suspendedAt]);
      return;
    case 'AccountResumed':
      await set('suspended_at = NULL', []);
  }
};
