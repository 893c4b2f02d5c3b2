import type { Migration } from '@berth/persistence';

/** Creations in progress with their placement, the attempt of each variable, and the free memory of hosts. */
export const createCreationsTable: Migration = {
  name: '2026-11-22-creations',
  async up(tx) {
    await tx.query(`CREATE TABLE agent_creations (
      agent_id text PRIMARY KEY,
      account_id text NOT NULL,
      attempt integer NOT NULL,
      host text NOT NULL,
      mem_mb integer NOT NULL,
      placed_at timestamptz NOT NULL)`);
    await tx.query('CREATE INDEX ON agent_creations (placed_at)');
    await tx.query('ALTER TABLE env_vault ADD COLUMN attempt integer');
    await tx.query('ALTER TABLE agent_hosts ADD COLUMN free_mem_mb integer');
    await tx.query('ALTER TABLE agent_hosts ADD COLUMN silent_since timestamptz');
  },
};
