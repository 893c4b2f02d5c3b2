import { createHash, timingSafeEqual } from 'node:crypto';
import { agentsRequests } from '@berth/contracts/agents';
import type { AuthorizeWebhook, WebhookCaller } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { WebhookRate } from '../webhook/webhook-rate.js';
import { WebhookTokenVault } from './webhook-token-vault.js';

/** Wrong tokens share a count of their own, so that guessing slows no valid caller. */
const WRONG_TOKENS = 'wrong';

/** Says who may invoke the webhook of an agent, from rows that are read at every call. */
@Injectable()
export class AuthorizeWebhookQuery {
  constructor(
    private readonly vault: WebhookTokenVault,
    private readonly rate: WebhookRate,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: see `webhookRequests.authorize`. */
  async authorize({ agentId, tokenHash, tokenRequired }: AuthorizeWebhook): Promise<WebhookCaller> {
    const [addressee, secret] = await Promise.all([
      this.requester.request(agentsRequests.addressee, { agentId }),
      tokenHash === null ? null : this.vault.findLiving(agentId),
    ]);
    if (tokenHash === null) {
      if (tokenRequired) throw refused('Send the token of the webhook in X-Service-Webhook-Token.');
      return { ...addressee, tokenId: null };
    }
    if (secret === null || !isHashOf(secret.token, tokenHash)) {
      await this.rate.take(agentId, WRONG_TOKENS);
      throw refused('This is not the token of the webhook.');
    }
    return { ...addressee, tokenId: secret.tokenId };
  }
}

/** In constant time. */
const isHashOf = (token: string, hash: string): boolean => {
  const given = Buffer.from(hash, 'hex');
  const expected = createHash('sha256').update(token).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
};

const refused = (message: string): DomainError =>
  new DomainError('unauthenticated', 'unauthenticated', message);
