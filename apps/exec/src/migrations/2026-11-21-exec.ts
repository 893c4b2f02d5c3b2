import type { Migration } from '@berth/persistence';

/** Tables besides the projection: the vault of results, and state that processes share. */
export const createExecTables: Migration = {
  name: '2026-11-21-exec',
  async up(tx) {
    await tx.query(`CREATE TABLE output_vault (
      execution_id text PRIMARY KEY,
      account_id text NOT NULL,
      agent_id text NOT NULL,
      status text NOT NULL,
      exit_code bigint NOT NULL,
      stdout bytea NOT NULL,
      stderr bytea NOT NULL,
      started_at timestamptz(3),
      ended_at timestamptz(3) NOT NULL,
      submitted_position bigint,
      expires_at timestamptz(3) NOT NULL)`);
    await tx.query('CREATE INDEX ON output_vault (agent_id, submitted_position)');
    await tx.query('CREATE INDEX ON output_vault (expires_at)');
    // The log position that the list must have reached to contain every execution returned as accepted.
    await tx.query(`CREATE UNLOGGED TABLE accepted_position (
      agent_id text PRIMARY KEY, position bigint NOT NULL, noted_at timestamptz NOT NULL DEFAULT now())`);
    // Executions that a process is about to dispatch to another epoch of their agent.
    await tx.query(
      'CREATE UNLOGGED TABLE rerouting (execution_id text PRIMARY KEY, until timestamptz NOT NULL)',
    );
    // The last epoch of each agent whose executions can no longer run.
    await tx.query(`CREATE TABLE agent_ending (
      agent_id text PRIMARY KEY, epoch bigint NOT NULL, position numeric(20) NOT NULL,
      ended_at timestamptz(3) NOT NULL)`);
  },
};
