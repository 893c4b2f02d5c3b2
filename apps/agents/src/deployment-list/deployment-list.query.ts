import type {
  DeploymentFailure,
  DeploymentView,
  GetDeployment,
  ListDeployments,
} from '@berth/contracts/agents';
import { DomainError, isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { ofAccount } from '../agent/ensure-awake.js';
import type { DeploymentRow } from './deployment-row.js';

interface ShownRow extends Omit<DeploymentRow, 'created_at' | 'finished_at'> {
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

/** Reads of deployments. */
@Injectable()
export class DeploymentListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly agents: AgentCommandHandler,
  ) {}

  /** Newest first. Errors: not_found `agent_not_found`. */
  async list({ accountId, agentId, cursor, limit }: ListDeployments): Promise<Page<DeploymentView>> {
    ofAccount(await this.agents.load(agentId), accountId);
    const before = cursor === null ? null : decodeCursor<{ before: string }>(cursor, isPlace).before;
    const rows = await this.database.query<ShownRow>(
      `SELECT * FROM deployment_list WHERE agent_id = $1 AND ($2::text IS NULL OR id < $2)
       ORDER BY id DESC LIMIT $3`,
      [agentId, before, limit + 1],
    );
    const items = rows.slice(0, limit).map(toView);
    const last = items.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { items, nextCursor: more ? encodeCursor({ before: last.id }) : null };
  }

  /** Errors: not_found `agent_not_found`, `deployment_not_found`. */
  async get({ accountId, agentId, deploymentId }: GetDeployment): Promise<DeploymentView> {
    ofAccount(await this.agents.load(agentId), accountId);
    const rows = isId('dep', deploymentId)
      ? await this.database.query<ShownRow>('SELECT * FROM deployment_list WHERE id = $1 AND agent_id = $2', [
          deploymentId,
          agentId,
        ])
      : [];
    const row = rows[0];
    if (row === undefined)
      throw new DomainError('not_found', 'deployment_not_found', 'The agent has no such deployment.');
    return toView(row);
  }

  /** The unfinished deployments of the agent, oldest first. */
  async unfinishedOf(agentId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM deployment_list WHERE agent_id = $1 AND finished_at IS NULL ORDER BY id',
      [agentId],
    );
    return rows.map(({ id }) => id);
  }

  /** Agents with unfinished deployments, except those. */
  async agentsWithWork(except: readonly string[], limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ agent_id: string }>(
      `SELECT agent_id FROM deployment_list WHERE finished_at IS NULL AND agent_id <> ALL($1)
       GROUP BY agent_id ORDER BY min(created_at) LIMIT $2`,
      [except, limit],
    );
    return rows.map((row) => row.agent_id);
  }
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'before' in value && typeof value.before === 'string';

const toView = (row: ShownRow): DeploymentView => ({
  id: row.id,
  source: row.source,
  status: row.status,
  error: row.error === null ? null : { code: publicCode(row.error.code), message: row.error.message },
  commit: row.commit,
  createdAt: row.created_at.toISOString(),
  finishedAt: row.finished_at?.toISOString() ?? null,
});

/** The deployments of a deleted agent are not found, so its code is never shown. */
const publicCode = (code: DeploymentFailure | 'agent_deleted'): DeploymentFailure =>
  code === 'agent_deleted' ? 'interrupted' : code;
