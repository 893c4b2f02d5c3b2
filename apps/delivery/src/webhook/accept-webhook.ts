import type { AcceptedWebhook, InvokeWebhook } from '@berth/contracts/delivery';
import { deriveId, DomainError, type CommandEnvelope } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { AuthorizeWebhookQuery } from '../webhook-token/authorize-webhook.query.js';
import { QueueNotices } from './queue-notices.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { WebhookIntake } from './webhook-intake.js';
import type { NewWebhook } from './webhook-vault.js';

/** All calls without a token to one agent share one count. */
const WITHOUT_TOKEN = 'none';

/** Accepts deliveries: once this returns, the message is in the vault and its acceptance in the log. */
@Injectable()
export class AcceptWebhookHandler {
  constructor(
    @Inject(AuthorizeWebhookQuery) private readonly authorization: Pick<AuthorizeWebhookQuery, 'authorize'>,
    private readonly intake: WebhookIntake,
    private readonly streams: WebhookStreams,
    @Inject(QueueNotices) private readonly notices: Pick<QueueNotices, 'announce'>,
  ) {}

  /** Errors: see `webhookRequests.invoke`. */
  async invoke(request: InvokeWebhook): Promise<AcceptedWebhook> {
    const { agentId, accountId, bytes, message, contentType } = request;
    const { tokenId, suspended } = await this.authorization.authorize(request, accountId);
    if (suspended !== null)
      throw new DomainError('forbidden', suspended, 'The owner of the agent is suspended.');
    const deliveryId = deriveId('dlv', request.commandId);
    const stored = { deliveryId, agentId, accountId, bytes, content: { message, contentType } };
    const webhook = { ...stored, caller: tokenId ?? WITHOUT_TOKEN };
    return this.accept(request, webhook, { tokenId, redeliveryOf: null });
  }

  /** Acts once for each command. Errors: those of `WebhookIntake.take`. */
  async accept(
    envelope: CommandEnvelope,
    webhook: NewWebhook,
    origin: { readonly tokenId: string | null; readonly redeliveryOf: string | null },
  ): Promise<AcceptedWebhook> {
    const { deliveryId, agentId, bytes } = webhook;
    await this.intake.take(webhook);
    const at = new Date().toISOString();
    await this.streams.handle(
      deliveryId,
      { type: 'Accept', deliveryId, agentId, bytes, ...origin, at },
      envelope,
      { expectNew: true },
    );
    this.notices.announce(agentId);
    return { accepted: true, deliveryId, agentId, status: 'queued' };
  }
}
