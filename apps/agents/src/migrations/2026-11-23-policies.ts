import type { Migration } from '@berth/persistence';

/** Copies of the policies that `end-users` decides: the latest of each, null after its removal. */
export const createPolicies: Migration = {
  name: '2026-11-23-create-policies',
  up: async (tx) => {
    await tx.query(`
      CREATE TABLE end_user_policies (
        end_user_id text COLLATE "C" PRIMARY KEY,
        policy jsonb,
        position numeric(20) NOT NULL
      )`);
    await tx.query(`
      CREATE TABLE end_user_defaults (account_id text PRIMARY KEY, policy jsonb, position numeric(20) NOT NULL)`);
  },
};
