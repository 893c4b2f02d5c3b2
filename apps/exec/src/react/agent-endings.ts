import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';

/** The last epoch of an agent whose executions can no longer run. */
export interface AgentEnding {
  readonly agentId: string;
  readonly epoch: number;
  /** Position of the causing event in the log. */
  readonly position: bigint;
  /** ISO 8601. */
  readonly at: string;
}

/** Stores, for each agent, the last epoch whose executions can no longer run. */
@Injectable()
export class AgentEndings {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Runs in `tx`. Ignores an event older than the stored one. */
  async remember(tx: SqlRunner, { agentId, epoch, position, at }: AgentEnding): Promise<void> {
    await tx.query(
      `INSERT INTO agent_ending AS existing (agent_id, epoch, position, ended_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (agent_id) DO UPDATE SET epoch = excluded.epoch, position = excluded.position,
         ended_at = excluded.ended_at
       WHERE existing.position < excluded.position`,
      [agentId, epoch, position.toString(), at],
    );
  }

  /** Runs in `tx`. Call it if the log has lost the events after `position` (null: all events). */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    await tx.query('DELETE FROM agent_ending WHERE position > $1', [(position ?? -1n).toString()]);
  }

  /** Removes endings so old that all their executions have ended. */
  async sweep(): Promise<void> {
    await this.database.query(`DELETE FROM agent_ending WHERE ended_at < now() - interval '7 days'`);
  }
}
