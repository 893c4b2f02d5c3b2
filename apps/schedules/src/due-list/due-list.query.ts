import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** An entry that is due. */
export interface DueEntry {
  readonly agentId: string;
  readonly entryId: string;
  readonly accountId: string;
  /** Milliseconds since the Unix epoch. */
  readonly dueAt: number;
}

/** A firing that is not over. */
export interface OpenFiring {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly accountId: string;
}

/** What is due, according to the projection. Times are milliseconds since the Unix epoch. */
@Injectable()
export class DueListQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** The entries that have been due longest. */
  async due(now: number, limit: number): Promise<readonly DueEntry[]> {
    const rows = await this.database.query<{
      agent_id: string;
      entry_id: string;
      account_id: string;
      due_at: Date;
    }>(
      'SELECT agent_id, entry_id, account_id, due_at FROM schedule_due WHERE due_at <= $1 ORDER BY due_at LIMIT $2',
      [new Date(now), limit],
    );
    return rows.map((row) => ({
      agentId: row.agent_id,
      entryId: row.entry_id,
      accountId: row.account_id,
      dueAt: row.due_at.getTime(),
    }));
  }

  async openFirings(): Promise<readonly OpenFiring[]> {
    const rows = await this.database.query<{ delivery_id: string; agent_id: string; account_id: string }>(
      'SELECT delivery_id, agent_id, account_id FROM schedule_firing ORDER BY fired_at',
    );
    return rows.map((row) => ({
      deliveryId: row.delivery_id,
      agentId: row.agent_id,
      accountId: row.account_id,
    }));
  }

  /** The ids of those of the entries whose `nextRunAt` has fired. */
  async fired(
    agentId: string,
    entries: readonly { readonly id: string; readonly nextRunAt: string | null }[],
  ): Promise<readonly string[]> {
    const timed = entries.filter(({ nextRunAt }) => nextRunAt !== null);
    if (timed.length === 0) return [];
    const rows = await this.database.query<{ entry_id: string }>(
      `SELECT entry_id FROM schedule_fired JOIN unnest($2::text[], $3::timestamptz[]) AS asked (entry, time)
         ON entry_id = asked.entry AND run_at = asked.time
       WHERE agent_id = $1`,
      [agentId, timed.map(({ id }) => id), timed.map(({ nextRunAt }) => nextRunAt)],
    );
    return rows.map((row) => row.entry_id);
  }
}
