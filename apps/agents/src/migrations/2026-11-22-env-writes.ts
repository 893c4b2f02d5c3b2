import type { Migration } from '@berth/persistence';

/** The commands that changed variables: the vault keeps the last write, so a late copy of a command must not write again. */
export const createEnvWrites: Migration = {
  name: '2026-11-22-env-writes',
  async up(tx) {
    await tx.query(`CREATE TABLE env_writes (
      agent_id text NOT NULL,
      command_id text NOT NULL,
      key text NOT NULL,
      is_secret boolean,
      written_at timestamptz(3) NOT NULL,
      PRIMARY KEY (agent_id, command_id))`);
  },
};
