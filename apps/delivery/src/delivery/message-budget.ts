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
    const minute = Math.floor(Date.now() / 60_000);
    const rows = await this.database.query<{ granted: boolean }>(
      'SELECT take_from_message_budget($1, $2, $3, $4) AS granted',
      [agentId, deliveryId, minute, this.config.messagesPerMinute],
    );
    if (rows[0]?.granted === true) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(((minute + 1) * 60_000 - Date.now()) / 1000));
    throw new DomainError('exhausted', 'rate_limited', 'The agent gets too many messages; try again later.', {
      retryAfterSeconds,
    });
  }

  /** Deletes the records of messages that were counted long ago. */
  async sweep(): Promise<void> {
    await this.database.query(`DELETE FROM counted_message WHERE counted_at < now() - ${COUNTED_KEPT_FOR}`);
  }
}
