import { agentsRequests } from '@berth/contracts/agents';
import {
  WEBHOOK_LIMITS,
  WEBHOOK_STATUSES,
  type ListWebhookDeliveries,
  type WebhookDeliveryView,
} from '@berth/contracts/delivery';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { explain } from '../webhook/webhook-failures.js';
import { WebhookVault } from '../webhook/webhook-vault.js';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly bytes: number;
  readonly code: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** A delivery in the list whose body is not in the vault. */
export interface BodilessWebhook {
  readonly deliveryId: string;
  readonly accountId: string;
}

const LOOK_AGAIN_MS = 20;
/** Then the list is returned as it is: the projection is late, or a body has no acceptance. */
const SHOWN_WITHIN_MS = 2_000;

/** The log may have the acceptance of a delivery whose caller was told that it failed. */
const NOT_REFUSED = `NOT EXISTS (
  SELECT FROM delivery_vault.webhook_bodies body WHERE body.delivery_id = webhook_delivery.id AND body.refused)`;

/** Lists the webhook deliveries of an agent, newest first. */
@Injectable()
export class WebhookListQuery {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly vault: WebhookVault,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: not_found `agent_not_found`; invalid `invalid_request` for a bad cursor. */
  async list(query: ListWebhookDeliveries): Promise<Page<WebhookDeliveryView>> {
    const { accountId, agentId, status, cursor, limit } = query;
    const before = cursor === null ? null : decodeCursor<{ before: string }>(cursor, isPlace).before;
    await this.requester.request(agentsRequests.locate, { accountId, agentId });
    await this.untilShown(agentId);
    const rows = await this.database.query<Row>(
      `SELECT id, status, attempts, bytes, code, created_at, ended_at FROM webhook_delivery
       WHERE agent_id = $1 AND account_id = $2 AND ($3::text IS NULL OR id < $3)
         AND ($4::text IS NULL OR status = $4) AND created_at > now() - make_interval(days => $5)
         AND ${NOT_REFUSED}
       ORDER BY id DESC LIMIT $6`,
      [agentId, accountId, before, status, WEBHOOK_LIMITS.listedDays, limit + 1],
    );
    const shown = rows.slice(0, limit);
    const errors = await this.vault.errorsOf(shown.filter(({ code }) => code !== null).map(({ id }) => id));
    const last = shown.at(-1);
    const more = rows.length > limit && last !== undefined;
    return {
      items: shown.map((row) => toView(row, errors.get(row.id))),
      nextCursor: more ? encodeCursor({ before: last.id }) : null,
    };
  }

  /** Whether the list has the delivery. */
  async has(agentId: string, deliveryId: string): Promise<boolean> {
    await this.untilShown(agentId);
    const rows = await this.database.query(
      `SELECT FROM webhook_delivery
       WHERE id = $1 AND agent_id = $2 AND created_at > now() - make_interval(days => $3) AND ${NOT_REFUSED}`,
      [deliveryId, agentId, WEBHOOK_LIMITS.listedDays],
    );
    return rows.length > 0;
  }

  /** Waits until the list has what was accepted before this call, so that who got a 202 sees it. */
  private async untilShown(agentId: string): Promise<void> {
    const end = performance.now() + SHOWN_WITHIN_MS;
    let late = await this.vault.recentOf(agentId);
    while (late.length > 0 && performance.now() < end) {
      const rows = await this.database.query<{ id: string }>(
        `SELECT id FROM unnest($1::text[]) AS accepted (id)
         WHERE NOT EXISTS (SELECT FROM webhook_delivery known WHERE known.id = accepted.id)`,
        [late],
      );
      late = rows.map(({ id }) => id);
      if (late.length > 0) await pause(LOOK_AGAIN_MS);
    }
  }

  /** Queued deliveries, accepted more than `seconds` ago, whose bodies a restored backup lacks. */
  async withoutBody(seconds: number, limit: number): Promise<readonly BodilessWebhook[]> {
    const rows = await this.database.query<{ id: string; account_id: string }>(
      `SELECT id, account_id FROM webhook_delivery known
       WHERE status = 'queued' AND created_at < now() - make_interval(secs => $1)
         AND NOT EXISTS (SELECT FROM delivery_vault.webhook_bodies body WHERE body.delivery_id = known.id)
       ORDER BY id LIMIT $2`,
      [seconds, limit],
    );
    return rows.map(({ id, account_id: accountId }) => ({ deliveryId: id, accountId }));
  }
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'before' in value && typeof value.before === 'string';

const toView = (row: Row, message: string | undefined): WebhookDeliveryView => {
  const status = WEBHOOK_STATUSES.find((known) => known === row.status);
  if (status === undefined) throw new Error(`A webhook delivery has the unknown status ${row.status}.`);
  return {
    id: row.id,
    status,
    attempts: row.attempts,
    createdAt: row.created_at.toISOString(),
    deliveredAt: status === 'delivered' ? (row.ended_at?.toISOString() ?? null) : null,
    error: row.code === null ? null : { code: row.code, message: message ?? explain(row.code) },
    bytes: row.bytes,
  };
};
