import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';

/** A running execution to reconcile. */
export interface RunningRow {
  readonly executionId: string;
  /** Whether its epoch has ended, so that it can no longer run. */
  readonly agentEnded: boolean;
  readonly cancelRequested: boolean;
}

interface Row {
  readonly id: string;
  readonly agent_ended: boolean;
  readonly cancel_requested: boolean;
}

const SELECT = `
  SELECT l.id, l.cancel_requested, (e.agent_id IS NOT NULL) AS agent_ended
  FROM execution_list l LEFT JOIN agent_ending e ON e.agent_id = l.agent_id AND e.epoch >= l.epoch
  WHERE l.status = 'running'`;

/** Reads the executions that are running according to the projection. */
@Injectable()
export class RunningExecutionsQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** One page of those dispatched at least `olderThanMs` ago, ordered by id. */
  async page(after: string, olderThanMs: number, limit: number): Promise<readonly RunningRow[]> {
    const rows = await this.database.query<Row>(
      `${SELECT} AND l.id > $1 AND l.handed_at < now() - make_interval(secs => $2) ORDER BY l.id LIMIT $3`,
      [after, olderThanMs / 1000, limit],
    );
    return rows.map(({ id, agent_ended, cancel_requested }) => ({
      executionId: id,
      agentEnded: agent_ended,
      cancelRequested: cancel_requested,
    }));
  }

  /** The running executions of an agent whose epoch has ended, so that they can no longer run. */
  async ofAgent(agentId: string, endedEpoch: number, limit: number): Promise<readonly RunningRow[]> {
    const rows = await this.database.query<Omit<Row, 'agent_ended'>>(
      `SELECT id, cancel_requested FROM execution_list WHERE status = 'running' AND agent_id = $1 AND epoch <= $2 ORDER BY id LIMIT $3`,
      [agentId, endedEpoch, limit],
    );
    return rows.map(({ id, cancel_requested }) => ({
      executionId: id,
      agentEnded: true,
      cancelRequested: cancel_requested,
    }));
  }
}
