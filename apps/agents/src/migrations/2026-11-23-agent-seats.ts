import type { Migration } from '@berth/persistence';

/** Creations in accounts whose plan limits their agents, until the agent list shows the agent. */
export const createAgentSeats: Migration = {
  name: '2026-11-23-agent-seats',
  async up(tx) {
    await tx.query(`
      CREATE TABLE agent_seats (
        agent_id text COLLATE "C" NOT NULL,
        attempt integer NOT NULL,
        account_id text COLLATE "C" NOT NULL,
        taken_at timestamptz(3) NOT NULL,
        PRIMARY KEY (agent_id, attempt)
      )`);
    await tx.query('CREATE INDEX ON agent_seats (account_id)');
  },
};
