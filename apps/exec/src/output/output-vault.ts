import type { ExecutionView } from '@berth/contracts/hosting';
import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';
import type { EndedStatus } from '../execution/execution.js';

/** The result of an execution, with its output. */
export interface Result {
  readonly executionId: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly status: EndedStatus;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** ISO 8601; null if it is not known to have started. */
  readonly startedAt: string | null;
  /** ISO 8601. */
  readonly endedAt: string;
}

interface VaultRow {
  readonly execution_id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly status: string;
  readonly exit_code: string;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly started_at: Date | null;
  readonly ended_at: Date;
}

/** How long a result is stored. */
export const KEPT_HOURS = 24;

/**
 * The vault of results: outside the log and the agent, stored for 24 hours, never rebuilt. Output is stored as bytes,
 * because a text column rejects NUL.
 */
@Injectable()
export class OutputVault {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /**
   * Stores a result unless there is one, and returns the stored one. A crash of the database may lose the most recent
   * results (`synchronous_commit` is off for this statement), which the API allows.
   */
  async keep(result: Result, submittedPosition: bigint | null): Promise<Result> {
    const rows = await this.database.query<{ execution_id: string }>(
      `INSERT INTO output_vault (execution_id, account_id, agent_id, status, exit_code, stdout, stderr, started_at,
         ended_at, submitted_position, expires_at)
       SELECT $1, $2, $3, $4, $5::bigint, $6::bytea, $7::bytea, $8::timestamptz, $9::timestamptz, $10::bigint,
         now() + make_interval(hours => ${KEPT_HOURS})
       FROM set_config('synchronous_commit', 'off', true) AS relaxed WHERE relaxed = 'off'
       ON CONFLICT (execution_id) DO NOTHING RETURNING execution_id`,
      [
        result.executionId,
        result.accountId,
        result.agentId,
        result.status,
        result.exitCode,
        Buffer.from(result.stdout, 'utf8'),
        Buffer.from(result.stderr, 'utf8'),
        result.startedAt,
        result.endedAt,
        submittedPosition?.toString() ?? null,
      ],
    );
    if (rows.length > 0) return result;
    return (await this.find(result.executionId)) ?? result;
  }

  /** null if there is none or it has expired. */
  async find(executionId: string): Promise<Result | null> {
    const [row] = await this.database.query<VaultRow>(
      'SELECT * FROM output_vault WHERE execution_id = $1 AND expires_at > now()',
      [executionId],
    );
    return row === undefined ? null : toResult(row);
  }

  /** Removes expired results; returns how many. */
  async sweep(limit: number): Promise<number> {
    const rows = await this.database.query(
      `DELETE FROM output_vault WHERE execution_id IN
         (SELECT execution_id FROM output_vault WHERE expires_at <= now() ORDER BY expires_at LIMIT $1)
       RETURNING execution_id`,
      [limit],
    );
    return rows.length;
  }
}

const ENDED: readonly EndedStatus[] = ['completed', 'timed_out', 'cancelled', 'failed'];

const toResult = (row: VaultRow): Result => {
  const status = ENDED.find((candidate) => candidate === row.status);
  if (status === undefined) throw new Error(`A stored result has the unknown status ${row.status}.`);
  return {
    executionId: row.execution_id,
    accountId: row.account_id,
    agentId: row.agent_id,
    status,
    exitCode: Number(row.exit_code),
    stdout: row.stdout.toString('utf8'),
    stderr: row.stderr.toString('utf8'),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at.toISOString(),
  };
};

/** Converts a result to the view of callers. */
export const viewOf = ({ executionId, status, exitCode, stdout, stderr }: Result): ExecutionView => ({
  executionId,
  status,
  exitCode,
  stdout,
  stderr,
});

/** The view of a running execution. */
export const runningView = (executionId: string): ExecutionView => ({
  executionId,
  status: 'running',
  exitCode: null,
  stdout: null,
  stderr: null,
});
