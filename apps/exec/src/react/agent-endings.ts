import { Injectable, Inject } from '@nestjs/common';
import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';

/** The last epoch of an agent whose executions cannot run any more. */
export interface AgentEnding {
  readonly agentId: string;
  readonly epoch: number;
  /** Of the event that says so, in the log. */
  readonly position: bigint;
  /** ISO 8601. */
  readonly at: string;
}

/** Up to which epoch executions of an agent have ended with it. */
@Injectable()
export class AgentEndings {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** As part of `tx`. What is older than what is remembered changes nothing. */
  async remember(tx: SqlRunner, { agentId, epoch, position, at }: AgentEnding): Promise<void> {
    await tx.query(
      `INSERT INTO agent_ending AS known (agent_id, epoch, position, ended_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (agent_id) DO UPDATE SET epoch = excluded.epoch, position = excluded.position,
         ended_at = excluded.ended_at
       WHERE known.position < excluded.position`,
      [agentId, epoch, position.toString(), at],
    );
  }

  /** As part of `tx`: the log does not have what came after `position` (null: anything) any more. */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    await tx.query('DELETE FROM agent_ending WHERE position > $1', [(position ?? -1n).toString()]);
  }

  /** By then everything that had to end has. */
  async sweep(): Promise<void> {
    await this.database.query(`DELETE FROM agent_ending WHERE ended_at < now() - interval '7 days'`);
  }
}
