import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';
import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** What the program gets of a request, which must not stand in the log. */
export interface WebhookContent {
  readonly message: string;
  readonly contentType: string | null;
}

export interface StoredWebhook {
  readonly deliveryId: string;
  readonly agentId: string;
  readonly accountId: string;
  /** Size of the request's body. */
  readonly bytes: number;
}

/** The oldest delivery of an agent that has not ended. */
export interface WaitingWebhook extends StoredWebhook {
  readonly content: WebhookContent;
  readonly storedAt: Date;
}

interface Row {
  readonly delivery_id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly bytes: number;
  readonly sealed: string | null;
  readonly stored_at: Date;
}

/** The bodies of webhooks, sealed, and the order in which the deliveries of an agent were accepted. */
@Injectable()
export class WebhookVault {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  /** Stores a body at the end of the agent's queue, once. Returns false, and stores nothing, if the queue is full. */
  async enqueue(stored: StoredWebhook, content: WebhookContent): Promise<boolean> {
    const { deliveryId, accountId, agentId, bytes } = stored;
    const rows = await this.database.query<{ stored: boolean }>(
      'SELECT enqueue_webhook($1, $2, $3, $4, $5, $6, $7) AS stored',
      [
        deliveryId,
        accountId,
        agentId,
        bytes,
        this.box.seal(JSON.stringify(content), aadOf(deliveryId)),
        WEBHOOK_LIMITS.queuedDeliveries,
        WEBHOOK_LIMITS.queuedBytes,
      ],
    );
    return rows[0]?.stored === true;
  }

  /** The agents whose queues are not empty, except those in `without`. */
  async agentsWaiting(
    without: readonly string[],
    limit: number,
  ): Promise<readonly { readonly agentId: string; readonly accountId: string }[]> {
    const rows = await this.database.query<Pick<Row, 'agent_id' | 'account_id'>>(WAITING, [without, limit]);
    return rows.map((row) => ({ agentId: row.agent_id, accountId: row.account_id }));
  }

  /** The agent's oldest delivery that has not ended; null if there is none. */
  async head(agentId: string): Promise<WaitingWebhook | null> {
    const [row] = await this.database.query<Row>(
      `SELECT delivery_id, account_id, agent_id, bytes, sealed, stored_at FROM delivery_vault.webhook_bodies
       WHERE agent_id = $1 AND ended_at IS NULL ORDER BY seq LIMIT 1`,
      [agentId],
    );
    if (row === undefined) return null;
    const content = this.contentOf(row) ?? { message: '', contentType: null };
    return { ...storedOf(row), content, storedAt: row.stored_at };
  }

  /** The body of a delivery of that agent; null once it is forgotten. */
  async find(agentId: string, deliveryId: string): Promise<(StoredWebhook & WebhookContent) | null> {
    const [row] = await this.database.query<Row>(
      `SELECT delivery_id, account_id, agent_id, bytes, sealed, stored_at FROM delivery_vault.webhook_bodies
       WHERE delivery_id = $1 AND agent_id = $2
         AND (ended_at IS NULL OR ended_at > now() - make_interval(hours => $3))`,
      [deliveryId, agentId, WEBHOOK_LIMITS.bodyKeptHours],
    );
    const content = row === undefined ? null : this.contentOf(row);
    return row === undefined || content === null ? null : { ...storedOf(row), ...content };
  }

  /** Takes the delivery out of the queue. `error`: what the program said about it. */
  async end(deliveryId: string, endedAt: string, error: string | null): Promise<void> {
    const sealed = error === null ? null : this.box.seal(error, errorAadOf(deliveryId));
    await this.database.query(
      `UPDATE delivery_vault.webhook_bodies SET ended_at = $2, sealed_error = $3
       WHERE delivery_id = $1 AND ended_at IS NULL`,
      [deliveryId, endedAt, sealed],
    );
  }

  /** What programs said about failed deliveries, by delivery. */
  async errorsOf(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ delivery_id: string; sealed_error: string }>(
      `SELECT delivery_id, sealed_error FROM delivery_vault.webhook_bodies
       WHERE delivery_id = ANY($1) AND sealed_error IS NOT NULL`,
      [deliveryIds],
    );
    return new Map(
      rows.map(({ delivery_id: id, sealed_error: sealed }) => [id, this.box.open(sealed, errorAadOf(id))]),
    );
  }

  /** Forgets a body whose delivery was never accepted. */
  async remove(deliveryId: string): Promise<void> {
    await this.database.query('DELETE FROM delivery_vault.webhook_bodies WHERE delivery_id = $1', [
      deliveryId,
    ]);
  }

  /** Forgets everything about the webhooks of a deleted agent. */
  async removeAllOf(agentId: string, tx: SqlRunner = this.database): Promise<void> {
    await tx.query('DELETE FROM delivery_vault.webhook_bodies WHERE agent_id = $1', [agentId]);
  }

  /** Forgets bodies, and later all of a delivery, when their time is over. */
  async sweep(): Promise<void> {
    const { bodyKeptHours, listedDays } = WEBHOOK_LIMITS;
    await this.database.query(
      `UPDATE delivery_vault.webhook_bodies SET sealed = NULL
       WHERE sealed IS NOT NULL AND ended_at < now() - make_interval(hours => $1)`,
      [bodyKeptHours],
    );
    await this.database.query(
      'DELETE FROM delivery_vault.webhook_bodies WHERE ended_at < now() - make_interval(days => $1)',
      [listedDays],
    );
  }

  private contentOf({ delivery_id: deliveryId, sealed }: Row): WebhookContent | null {
    return sealed === null ? null : (JSON.parse(this.box.open(sealed, aadOf(deliveryId))) as WebhookContent);
  }
}

/** Reads one row of the index for each agent, however long its queue is. */
const WAITING = `
  WITH RECURSIVE waiting AS (
    (SELECT agent_id, account_id FROM delivery_vault.webhook_bodies
     WHERE ended_at IS NULL ORDER BY agent_id, seq LIMIT 1)
    UNION ALL
    SELECT next.agent_id, next.account_id FROM waiting, LATERAL (
      SELECT body.agent_id, body.account_id FROM delivery_vault.webhook_bodies body
      WHERE body.ended_at IS NULL AND body.agent_id > waiting.agent_id ORDER BY body.agent_id, body.seq LIMIT 1) next)
  SELECT agent_id, account_id FROM waiting WHERE agent_id <> ALL($1) LIMIT $2`;

const storedOf = (row: Row): StoredWebhook => ({
  deliveryId: row.delivery_id,
  agentId: row.agent_id,
  accountId: row.account_id,
  bytes: row.bytes,
});

const aadOf = (deliveryId: string): string => `webhook body ${deliveryId}`;
const errorAadOf = (deliveryId: string): string => `webhook error ${deliveryId}`;
