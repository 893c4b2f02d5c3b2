import { agentsRequests } from '@berth/contracts/agents';
import type { AcceptedWebhook, RedeliverWebhook } from '@berth/contracts/delivery';
import { deriveId, DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { WebhookListQuery } from '../webhook-list/webhook-list.query.js';
import { AcceptWebhookHandler } from './accept-webhook.js';
import { WebhookVault } from './webhook-vault.js';

/** Repeats deliveries whose bodies are kept. */
@Injectable()
export class RedeliverWebhookHandler {
  constructor(
    private readonly deliveries: AcceptWebhookHandler,
    private readonly vault: WebhookVault,
    private readonly list: WebhookListQuery,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: see `webhookRequests.redeliver`. */
  async handle(request: RedeliverWebhook): Promise<AcceptedWebhook> {
    const { agentId, accountId, deliveryId: earlier } = request;
    const addressee = await this.requester.request(agentsRequests.addressee, { agentId });
    if (addressee.accountId !== accountId)
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    if (!(await this.list.has(agentId, earlier)))
      throw new DomainError('not_found', 'delivery_not_found', 'There is no such delivery.');
    if (addressee.suspended !== null)
      throw new DomainError('forbidden', addressee.suspended, 'The owner of the agent is suspended.');
    const kept = await this.vault.find(agentId, earlier);
    if (kept === null)
      throw new DomainError('conflict', 'body_forgotten', 'The body of this delivery is no longer stored.');
    const { bytes, message, contentType } = kept;
    const stored = { deliveryId: deriveId('dlv', request.commandId), agentId, accountId, bytes };
    const webhook = { ...stored, content: { message, contentType }, caller: null };
    return this.deliveries.accept(request, webhook, { tokenId: null, redeliveryOf: earlier });
  }
}
