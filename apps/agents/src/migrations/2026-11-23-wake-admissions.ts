import type { Migration } from '@berth/persistence';

/**
 * Wakes that were admitted and that the log may not have yet. The revision of a gate grows with each of them, so that two
 * admissions that counted the same wakes cannot both take the last one.
 */
export const createWakeAdmissions: Migration = {
  name: '2026-11-23-create-wake-admissions',
  up: async (tx) => {
    await tx.query(`
      CREATE TABLE wake_gates (end_user_id text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL) WITH (fillfactor = 50)`);
    await tx.query(`
      CREATE TABLE wake_admissions (
        agent_id text COLLATE "C" NOT NULL,
        epoch integer NOT NULL,
        end_user_id text COLLATE "C" NOT NULL,
        at timestamptz(3) NOT NULL,
        PRIMARY KEY (agent_id, epoch)
      )`);
    await tx.query('CREATE INDEX ON wake_admissions (end_user_id, at)');
  },
};
