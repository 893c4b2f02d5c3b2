import type { Migration } from '@berth/persistence';

/** The last suspension or resumption of each account that ever had one, as `accounts` published it. */
export const createAccountSuspensions: Migration = {
  name: '2026-11-23-account-suspensions',
  async up(tx) {
    await tx.query(`
      CREATE TABLE account_suspensions (
        account_id text COLLATE "C" PRIMARY KEY,
        suspended boolean NOT NULL,
        position numeric(20) NOT NULL
      )`);
  },
};
