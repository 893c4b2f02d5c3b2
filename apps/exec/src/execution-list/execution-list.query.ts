import { agentsRequests } from '@berth/contracts/agents';
import { type ExecutionSummary, type ListExecutions } from '@berth/contracts/exec';
import { EXECUTION_STATUSES, type ExecutionStatus } from '@berth/contracts/hosting';
import type { ProjectionRunner } from '@berth/event-store';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { decodeCursor, encodeCursor, type SqlRunner, Database } from '@berth/persistence';
import { InjectProjection } from '@berth/service';
import { Injectable, Inject } from '@nestjs/common';
import { KEPT_HOURS } from '../output/output-vault.js';
import { AcceptedPositions } from '../submission/accepted-positions.js';
import { executionListProjection } from './execution-list.projection.js';

interface ListedRow {
  readonly id: string;
  readonly status: string;
  readonly exit_code: string | null;
  readonly detached: boolean;
  readonly timeout_seconds: number;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

// An execution with a stored result has ended, even if the projection has not processed its end yet.
const LISTED = `
  SELECT l.id, coalesce(v.status, l.status) AS status, coalesce(v.exit_code, l.exit_code) AS exit_code, l.detached,
    l.timeout_seconds, l.created_at, coalesce(v.ended_at, l.ended_at) AS ended_at
  FROM execution_list l LEFT JOIN output_vault v ON v.execution_id = l.id`;

/** Lists an agent's executions, newest first. */
@Injectable()
export class ExecutionListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly positions: AcceptedPositions,
    @InjectProjection(executionListProjection) private readonly projection: Pick<ProjectionRunner, 'waitFor'>,
    private readonly requester: Requester,
  ) {}

  /** Contains everything that any process returned before this call. Errors: not_found `agent_not_found`. */
  async list(query: ListExecutions): Promise<Page<ExecutionSummary>> {
    const { accountId, agentId, limit } = query;
    const located = this.requester.request(agentsRequests.locate, { accountId, agentId });
    await Promise.all([located, this.catchUp(agentId)]);
    const rows = await this.rows(query);
    const items = rows.slice(0, limit).map(toSummary);
    const last = items.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { items, nextCursor: more ? encodeCursor({ before: last.executionId }) : null };
  }

  /** Waits at most two seconds for the projection. */
  private async catchUp(agentId: string): Promise<void> {
    const position = await this.positions.of(agentId);
    if (position !== null) await this.projection.waitFor(position);
  }

  private rows({ accountId, agentId, status, cursor, limit }: ListExecutions): Promise<ListedRow[]> {
    const before = cursor === null ? null : decodeCursor<{ before: string }>(cursor, isPlace).before;
    return this.database.query<ListedRow>(
      `SELECT * FROM (${LISTED} WHERE l.agent_id = $1 AND l.account_id = $2 AND l.status <> 'refused'
         AND ($3::text IS NULL OR l.id < $3)) AS listed
       WHERE (ended_at IS NULL OR ended_at > now() - make_interval(hours => ${KEPT_HOURS}))
         AND ($4::text IS NULL OR status = $4)
       ORDER BY id DESC LIMIT $5`,
      [agentId, accountId, before, status, limit + 1],
    );
  }
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'before' in value && typeof value.before === 'string';

const toSummary = (row: ListedRow): ExecutionSummary => ({
  executionId: row.id,
  status: statusOf(row.status),
  exitCode: row.exit_code === null ? null : Number(row.exit_code),
  detached: row.detached,
  timeout: row.timeout_seconds,
  createdAt: row.created_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
});

const statusOf = (stored: string): ExecutionStatus => {
  const status = EXECUTION_STATUSES.find((candidate) => candidate === stored);
  if (status === undefined) throw new Error(`A row of the execution list has the unknown status ${stored}.`);
  return status;
};
