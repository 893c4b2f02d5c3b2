import type { AcceptedWebhook, InvokeWebhook } from '@berth/contracts/delivery';
import type { ProjectionRunner } from '@berth/event-store';
import { deriveId, DomainError, type CommandEnvelope } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { MessageBudget } from '../delivery/message-budget.js';
import { webhookListProjection } from '../webhook-list/webhook-list.projection.js';
import { QueueNotices } from './queue-notices.js';
import { WebhookRate } from './webhook-rate.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { WebhookVault, type StoredWebhook, type WebhookContent } from './webhook-vault.js';

const QUEUE_FULL_RETRY_SECONDS = 60;

/** All calls without a token to one agent share one count. */
const WITHOUT_TOKEN = 'none';

/** Accepts deliveries: once this returns, the message is in the vault and its acceptance in the log. */
@Injectable()
export class AcceptWebhookHandler {
  constructor(
    private readonly rate: WebhookRate,
    private readonly budget: MessageBudget,
    private readonly vault: WebhookVault,
    private readonly streams: WebhookStreams,
    @Inject(QueueNotices) private readonly notices: Pick<QueueNotices, 'announce'>,
    @InjectProjection(webhookListProjection) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  /** Errors: see `webhookRequests.invoke`. */
  async invoke(request: InvokeWebhook): Promise<AcceptedWebhook> {
    const { agentId, accountId, tokenId, bytes, message, contentType } = request;
    const deliveryId = deriveId('dlv', request.commandId);
    await this.rate.take(agentId, tokenId ?? WITHOUT_TOKEN, deliveryId);
    const stored = { deliveryId, agentId, accountId, bytes };
    return this.accept(request, stored, { message, contentType }, { tokenId, redeliveryOf: null });
  }

  /** Acts once for each command. Errors: exhausted `rate_limited`, `queue_full`. */
  async accept(
    envelope: CommandEnvelope,
    stored: StoredWebhook,
    content: WebhookContent,
    origin: { readonly tokenId: string | null; readonly redeliveryOf: string | null },
  ): Promise<AcceptedWebhook> {
    const { deliveryId, agentId, bytes } = stored;
    await this.budget.take(agentId, deliveryId);
    if (!(await this.vault.enqueue(stored, content))) throw queueFull();
    const at = new Date().toISOString();
    const { position } = await this.streams.handle(
      deliveryId,
      { type: 'Accept', deliveryId, agentId, bytes, ...origin, at },
      envelope,
      { expectNew: true },
    );
    this.notices.announce(agentId);
    // At most two seconds: the delivery is accepted whether or not the list shows it yet.
    if (position !== null) await this.list.waitFor(position).catch(() => false);
    return { accepted: true, deliveryId, agentId, status: 'queued' };
  }
}

const queueFull = (): DomainError =>
  new DomainError('exhausted', 'queue_full', 'Too many deliveries wait for this agent; try again later.', {
    retryAfterSeconds: QUEUE_FULL_RETRY_SECONDS,
  });
