import type { AcceptedWebhook, InvokeWebhook } from '@berth/contracts/delivery';
import { randomUUID } from 'node:crypto';
import { deriveId, DomainError, isDomainError, type CommandEnvelope } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { AuthorizeWebhookQuery } from '../webhook-token/authorize-webhook.query.js';
import { AcceptanceMarks } from './acceptance-marks.js';
import { QueueNotices } from './queue-notices.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { WebhookIntake } from './webhook-intake.js';
import type { NewWebhook } from './webhook-vault.js';

/** All calls without a token to one agent share one count. */
const WITHOUT_TOKEN = 'none';

/** An acceptance that takes longer is refused. After that time, others may rely on its refusal. */
export const ACCEPTED_WITHIN_MS = 5_000;

/**
 * Accepts deliveries: once this returns, the message is in the vault and its acceptance in the log. If it fails, the
 * delivery is marked as refused in the vault, because the acceptance may still reach the log.
 */
@Injectable()
export class AcceptWebhookHandler {
  constructor(
    @Inject(AuthorizeWebhookQuery) private readonly authorization: Pick<AuthorizeWebhookQuery, 'authorize'>,
    private readonly intake: WebhookIntake,
    private readonly streams: WebhookStreams,
    private readonly marks: AcceptanceMarks,
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
    webhook: Omit<NewWebhook, 'tryId'>,
    origin: { readonly tokenId: string | null; readonly redeliveryOf: string | null },
  ): Promise<AcceptedWebhook> {
    const { deliveryId, agentId } = webhook;
    const tryId = randomUUID();
    try {
      await this.store(envelope, { ...webhook, tryId }, origin);
    } catch (error) {
      // Nothing was stored for a call beyond a limit.
      if (!isDomainError(error, 'exhausted')) await this.marks.refused({ deliveryId, tryId });
      throw error;
    }
    this.marks.accepted(deliveryId);
    this.notices.announce(agentId);
    return { accepted: true, deliveryId, agentId, status: 'queued' };
  }

  private async store(
    envelope: CommandEnvelope,
    webhook: NewWebhook,
    origin: { readonly tokenId: string | null; readonly redeliveryOf: string | null },
  ): Promise<void> {
    const { deliveryId, agentId, bytes } = webhook;
    const begunAt = performance.now();
    await this.intake.take(webhook);
    const at = new Date().toISOString();
    await this.streams.handle(
      deliveryId,
      { type: 'Accept', deliveryId, agentId, bytes, ...origin, at },
      envelope,
      { expectNew: true },
    );
    if (performance.now() - begunAt > ACCEPTED_WITHIN_MS)
      throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
  }
}
