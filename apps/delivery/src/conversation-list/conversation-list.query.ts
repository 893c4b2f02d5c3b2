import type { SqlRunner } from '@berth/persistence';

/** Longer than any message may take: what is still open then was lost with its process. */
const LOST_AFTER_SECONDS = 900;

export class ConversationListQuery {
  constructor(private readonly database: SqlRunner) {}

  /** The conversation that last received a message; null when there is none. */
  async current(agentId: string): Promise<string | null> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM conversation WHERE agent_id = $1 ORDER BY last_delivery_id DESC LIMIT 1',
      [agentId],
    );
    return rows[0]?.id ?? null;
  }

  /** Deliveries whose process ended before they did. */
  async lost(limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM delivery WHERE state = 'accepted' AND accepted_at < now() - make_interval(secs => $1)
       ORDER BY accepted_at LIMIT $2`,
      [LOST_AFTER_SECONDS, limit],
    );
    return rows.map((row) => row.id);
  }
}
