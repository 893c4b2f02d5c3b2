import { Database } from '@berth/persistence';
import type { SqlRunner } from '@berth/persistence';
import { Injectable, Inject } from '@nestjs/common';
import { DeliveryConfig } from '../config.js';

/** A delivery without a recorded outcome after the time limit. */
export interface LostDelivery {
  readonly id: string;
  readonly agentId: string;
  readonly acceptedAt: Date;
}

@Injectable()
export class ConversationListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @Inject(DeliveryConfig) private readonly config: Pick<DeliveryConfig, 'lostAfterSeconds'>,
  ) {}

  /** Returns the conversation that last received a message; null when there is none. */
  async current(agentId: string): Promise<string | null> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM conversation WHERE agent_id = $1 ORDER BY last_delivery_id DESC LIMIT 1',
      [agentId],
    );
    return rows[0]?.id ?? null;
  }

  /** Returns deliveries that their process left without an outcome, oldest first, starting behind `after`. */
  async lost(after: LostDelivery | null, limit: number): Promise<readonly LostDelivery[]> {
    const rows = await this.database.query<{ id: string; agent_id: string; accepted_at: Date }>(
      `SELECT id, agent_id, accepted_at FROM delivery
       WHERE state = 'accepted' AND accepted_at < now() - make_interval(secs => $1)
         AND ($2::timestamptz IS NULL OR (accepted_at, id) > ($2, $3))
       ORDER BY accepted_at, id LIMIT $4`,
      [this.config.lostAfterSeconds, after?.acceptedAt ?? null, after?.id ?? null, limit],
    );
    return rows.map(({ id, agent_id: agentId, accepted_at: acceptedAt }) => ({ id, agentId, acceptedAt }));
  }
}
