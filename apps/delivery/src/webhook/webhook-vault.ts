import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';
import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The part of a request that the program gets, which must not be in the log. */
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

/** A webhook to accept. */
export interface NewWebhook extends StoredWebhook {
  readonly content: WebhookContent;
  /** The caller whose rate the call counts towards; null if it is not a call. */
  readonly caller: string | null;
  /** Id of this try to accept it. */
  readonly tryId: string;
}

export interface Acceptance {
  readonly outcome: 'stored' | 'too_many_calls' | 'too_many_messages' | 'queue_full';
  /** Seconds until the next call; 0 unless there were too many. */
  readonly wait: number;
}

/** The budget of messages of each agent. */
export interface MessageAllowance {
  readonly minute: number;
  readonly perMinute: number;
}

/** The oldest delivery of an agent that has not ended. */
export interface WaitingWebhook extends StoredWebhook {
  readonly content: WebhookContent;
  /** Whether it is certain that its acceptance is in the log, and that its caller was not told otherwise. */
  readonly accepted: boolean;
  /** The tries to accept it that were not refused. */
  readonly tries: readonly string[];
  /** When the last try stored it, and how long ago that was, both by the clock of PostgreSQL, in milliseconds. */
  readonly storedAt: number;
  readonly ageMs: number;
}

interface Row {
  readonly delivery_id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly bytes: number;
  readonly sealed: string | null;
}

interface HeadRow extends Row {
  readonly accepted: boolean;
  readonly tries: readonly string[];
  readonly stored_at: number;
  readonly age_ms: number;
}

const RECENT_SECONDS = 12;

/** The bodies of webhooks, sealed, and the order in which the deliveries of an agent were accepted. */
@Injectable()
export class WebhookVault {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  /**
   * Counts each call and message and stores its body at the end of its agent's queue, once however often it is repeated,
   * unless a limit forbids that. One statement decides about all of them, which is durable when this returns.
   */
  async accept(webhooks: readonly NewWebhook[], messages: MessageAllowance): Promise<readonly Acceptance[]> {
    return this.database.query<Acceptance>(ACCEPT, [
      webhooks.map(({ deliveryId }) => deliveryId),
      webhooks.map(({ accountId }) => accountId),
      webhooks.map(({ agentId }) => agentId),
      webhooks.map(({ caller }) => caller),
      webhooks.map(({ bytes }) => bytes),
      webhooks.map(({ content, deliveryId }) => this.box.seal(JSON.stringify(content), aadOf(deliveryId))),
      WEBHOOK_LIMITS.perMinute,
      messages.minute,
      messages.perMinute,
      WEBHOOK_LIMITS.queuedDeliveries,
      WEBHOOK_LIMITS.queuedBytes,
      webhooks.map(({ tryId }) => tryId),
    ]);
  }

  /** Refuses the delivery unless it was tried again since; returns what is the oldest then, as `head` does. */
  async refuseHead({ agentId, deliveryId, tries }: WaitingWebhook): Promise<WaitingWebhook | null> {
    await this.database.query(
      `UPDATE delivery_vault.webhook_bodies SET refused = true, ended_at = now(), sealed = NULL
       WHERE delivery_id = $1 AND ended_at IS NULL AND tries = $2`,
      [deliveryId, tries],
    );
    return this.head(agentId);
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
    const [row] = await this.database.query<HeadRow>(HEAD, [agentId]);
    return this.waitingOf(row);
  }

  /** The body of a delivery of that agent; null once it is forgotten. */
  async find(agentId: string, deliveryId: string): Promise<(StoredWebhook & WebhookContent) | null> {
    const [row] = await this.database.query<Row>(
      `SELECT delivery_id, account_id, agent_id, bytes, sealed FROM delivery_vault.webhook_bodies
       WHERE delivery_id = $1 AND agent_id = $2
         AND (ended_at IS NULL OR ended_at > now() - make_interval(hours => $3))`,
      [deliveryId, agentId, WEBHOOK_LIMITS.bodyKeptHours],
    );
    const content = row === undefined ? null : this.contentOf(row);
    return row === undefined || content === null ? null : { ...storedOf(row), ...content };
  }

  /** Stores what the program said about a delivery that fails; nothing shows it before the delivery has failed. */
  async noteError(deliveryId: string, error: string): Promise<void> {
    await this.database.query(
      'UPDATE delivery_vault.webhook_bodies SET sealed_error = $2 WHERE delivery_id = $1 AND ended_at IS NULL',
      [deliveryId, this.box.seal(error, errorAadOf(deliveryId))],
    );
  }

  /** Takes the delivery out of the queue of its agent, and returns what is the oldest then, as `head` does. */
  async end(
    { deliveryId, agentId }: Pick<StoredWebhook, 'deliveryId' | 'agentId'>,
    endedAt: string,
  ): Promise<WaitingWebhook | null> {
    const [row] = await this.database.query<HeadRow>(END, [agentId, deliveryId, endedAt]);
    return this.waitingOf(row);
  }

  /** The agent's deliveries whose bodies came in the last seconds: longer ago than any invoke takes. */
  async recentOf(agentId: string): Promise<readonly string[]> {
    const rows = await this.database.query<Pick<Row, 'delivery_id'>>(
      `SELECT delivery_id FROM delivery_vault.webhook_bodies
       WHERE agent_id = $1 AND stored_at > now() - make_interval(secs => $2) AND NOT refused`,
      [agentId, RECENT_SECONDS],
    );
    return rows.map((row) => row.delivery_id);
  }

  /** The error messages of programs for failed deliveries, by delivery. */
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

  private waitingOf(row: HeadRow | undefined): WaitingWebhook | null {
    if (row === undefined) return null;
    const { accepted, tries, stored_at: storedAt, age_ms: ageMs } = row;
    const content = this.contentOf(row) ?? { message: '', contentType: null };
    return { ...storedOf(row), content, accepted, tries, storedAt, ageMs };
  }

  private contentOf({ delivery_id: deliveryId, sealed }: Row): WebhookContent | null {
    return sealed === null ? null : (JSON.parse(this.box.open(sealed, aadOf(deliveryId))) as WebhookContent);
  }
}

const ACCEPT = 'SELECT outcome, wait FROM accept_webhooks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)';

const HEAD_COLUMNS = `delivery_id, account_id, agent_id, bytes, sealed, accepted, tries,
  (extract(epoch FROM stored_at) * 1000)::float8 AS stored_at,
  (extract(epoch FROM clock_timestamp() - stored_at) * 1000)::float8 AS age_ms`;

const HEAD = `
  SELECT ${HEAD_COLUMNS} FROM delivery_vault.webhook_bodies
  WHERE agent_id = $1 AND ended_at IS NULL ORDER BY seq LIMIT 1`;

/** The update is not visible to the other part, which therefore leaves its row out. */
const END = `
  WITH ended AS (UPDATE delivery_vault.webhook_bodies SET ended_at = $3 WHERE delivery_id = $2 AND ended_at IS NULL)
  SELECT ${HEAD_COLUMNS} FROM delivery_vault.webhook_bodies
  WHERE agent_id = $1 AND ended_at IS NULL AND delivery_id <> $2 ORDER BY seq LIMIT 1`;

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
