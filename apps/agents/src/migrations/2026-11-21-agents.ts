import type { Migration } from '@berth/persistence';

/** The tables that are not projections: the vault, activity, hosts. */
export const createAgentsTables: Migration = {
  name: '2026-11-21-agents',
  async up(tx) {
    await tx.query(`CREATE TABLE env_vault (
      agent_id text NOT NULL,
      key text NOT NULL,
      sealed text NOT NULL,
      is_secret boolean NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      PRIMARY KEY (agent_id, key))`);
    await tx.query(`CREATE TABLE agent_activity (
      agent_id text PRIMARY KEY,
      last_active_at timestamptz(3) NOT NULL,
      last_activity_kind text NOT NULL,
      sleep_at timestamptz(3))`);
    await tx.query(`CREATE TABLE agent_hosts (
      host text PRIMARY KEY,
      incarnation text NOT NULL,
      last_seen_at timestamptz NOT NULL)`);
  },
};
