import { DomainError } from '@berth/kernel';
import type { SqlRunner } from '@berth/persistence';

/** One budget of messages per agent and minute, shared by every way a message comes in, counted across processes. */
export class MessageBudget {
  constructor(
    private readonly database: SqlRunner,
    private readonly perMinute: number,
  ) {}

  /** Errors: exhausted `rate_limited` with `retryAfterSeconds`. */
  async take(agentId: string): Promise<void> {
    const minute = Math.floor(Date.now() / 60_000);
    const rows = await this.database.query<{ taken: number }>(
      `INSERT INTO message_budget (agent_id, minute, taken) VALUES ($1, $2, 1)
       ON CONFLICT (agent_id) DO UPDATE SET
         taken = CASE WHEN message_budget.minute = excluded.minute THEN message_budget.taken + 1 ELSE 1 END,
         minute = excluded.minute
       RETURNING taken`,
      [agentId, minute],
    );
    if ((rows[0]?.taken ?? 0) <= this.perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(((minute + 1) * 60_000 - Date.now()) / 1000));
    throw new DomainError('exhausted', 'rate_limited', 'The agent gets too many messages; try again later.', {
      retryAfterSeconds,
    });
  }
}
