import type { NoteNextWake } from '@berth/contracts/agents';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** This service's copy of the times at which `schedules` wakes agents next. */
@Injectable()
export class NextWakes {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Ignores a note older than the stored one. Runs in `tx`, if given. */
  async note({ agentId, nextWakeAt, position }: NoteNextWake, tx: SqlRunner = this.database): Promise<void> {
    await tx.query(
      `INSERT INTO agent_next_wake AS existing (agent_id, next_wake_at, position) VALUES ($1, $2, $3)
       ON CONFLICT (agent_id) DO UPDATE SET next_wake_at = excluded.next_wake_at, position = excluded.position
       WHERE existing.position < excluded.position`,
      [agentId, nextWakeAt, position],
    );
  }

  /** Returns null if no schedule wakes the agent. */
  async of(agentId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ next_wake_at: Date | null }>(
      'SELECT next_wake_at FROM agent_next_wake WHERE agent_id = $1',
      [agentId],
    );
    return row?.next_wake_at ?? null;
  }

  /** Runs in `tx`. Call it if the log has lost the events after `position` (null: all events). */
  async forgetAfter(tx: SqlRunner, position: bigint | null): Promise<void> {
    await tx.query('DELETE FROM agent_next_wake WHERE position > $1', [(position ?? -1n).toString()]);
  }
}
