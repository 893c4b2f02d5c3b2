import type { Migration } from '@berth/persistence';

/** What stands beside the projection: the vault of results, and what processes tell each other. */
export const createExecTables: Migration = {
  name: '2026-11-21-exec',
  async up(query) {
    await query.query(`CREATE TABLE output_vault (
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
    await query.query('CREATE INDEX ON output_vault (agent_id, submitted_position)');
    await query.query('CREATE INDEX ON output_vault (expires_at)');
    // Up to where the list must know the log to show what was answered as accepted.
    await query.query(`CREATE UNLOGGED TABLE accepted_position (
      agent_id text PRIMARY KEY, position bigint NOT NULL, noted_at timestamptz NOT NULL DEFAULT now())`);
    // ExecutionRepository that a process is about to hand to another epoch of their agent.
    await query.query(
      'CREATE UNLOGGED TABLE rerouting (execution_id text PRIMARY KEY, until timestamptz NOT NULL)',
    );
    // Up to which epoch an agent's executions cannot run any more.
    await query.query(`CREATE TABLE agent_ending (
      agent_id text PRIMARY KEY, epoch bigint NOT NULL, position numeric(20) NOT NULL,
      ended_at timestamptz(3) NOT NULL)`);
  },
};
