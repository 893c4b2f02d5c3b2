import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';

/** The log positions that the list must have reached to agree with what any process returned before. */
@Injectable()
export class AcceptedPositions {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** For executions returned before their end, and for refused ones; the vault has the position of all others. */
  async record(agentId: string, position: bigint): Promise<void> {
    await this.database.query(
      `INSERT INTO accepted_position AS existing (agent_id, position) VALUES ($1, $2)
       ON CONFLICT (agent_id) DO UPDATE SET position = greatest(existing.position, excluded.position), noted_at = now()`,
      [agentId, position.toString()],
    );
  }

  /** null if nothing was returned for the agent recently. */
  async of(agentId: string): Promise<bigint | null> {
    const [row] = await this.database.query<{ position: string | null }>(
      `SELECT greatest(
         (SELECT max(submitted_position) FROM output_vault WHERE agent_id = $1),
         (SELECT position FROM accepted_position WHERE agent_id = $1)) AS position`,
      [agentId],
    );
    return row?.position === undefined || row.position === null ? null : BigInt(row.position);
  }

  /** Removes positions that every list has passed long ago. */
  async sweep(): Promise<void> {
    await this.database.query(`DELETE FROM accepted_position WHERE noted_at < now() - interval '1 hour'`);
  }
}
