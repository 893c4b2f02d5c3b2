import { DomainError } from '@berth/kernel';
import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';
import { DeliveryConfig } from '../config.js';

/** An accepted message is never counted again. Before that, its command is repeated for minutes only. */
const COUNTED_KEPT_FOR = "interval '1 hour'";

/** One budget of messages per agent and minute, shared by messages of all kinds and by all processes. */
@Injectable()
export class MessageBudget {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @Inject(DeliveryConfig) private readonly config: Pick<DeliveryConfig, 'messagesPerMinute'>,
  ) {}

  /** Counts a message once, however often its command arrives. Errors: exhausted `rate_limited` with `retryAfterSeconds`. */
  async take(agentId: string, deliveryId: string): Promise<void> {
    const minute = currentMinute();
    const rows = await this.database.query<{ granted: boolean }>(
      'SELECT take_from_message_budget($1, $2, $3, $4) AS granted',
      [agentId, deliveryId, minute, this.config.messagesPerMinute],
    );
    if (rows[0]?.granted === true) return;
    throw beyondBudget(minute);
  }

  /** Deletes the records of messages that were counted long ago. */
  async sweep(): Promise<void> {
    await this.database.query(`DELETE FROM counted_message WHERE counted_at < now() - ${COUNTED_KEPT_FOR}`);
  }
}

const MINUTE_MS = 60_000;

/** The number of the minute whose messages are counted together. */
export const currentMinute = (): number => Math.floor(Date.now() / MINUTE_MS);

/** Refuses a message because the agent's budget for that minute is used up. */
export const beyondBudget = (minute: number): DomainError => {
  const leftMs = (minute + 1) * MINUTE_MS - Date.now();
  return new DomainError('exhausted', 'rate_limited', 'The agent gets too many messages; try again later.', {
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  });
};
