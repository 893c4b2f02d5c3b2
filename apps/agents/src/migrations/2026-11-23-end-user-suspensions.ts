import type { Migration } from '@berth/persistence';

/** The last suspension or resumption of each end user that ever had one, as `end-users` told or published it. */
export const createEndUserSuspensions: Migration = {
  name: '2026-11-23-end-user-suspensions',
  async up(tx) {
    await tx.query(`
      CREATE TABLE end_user_suspensions (
        end_user_id text COLLATE "C" PRIMARY KEY,
        suspended boolean NOT NULL,
        position numeric(20) NOT NULL
      )`);
  },
};
