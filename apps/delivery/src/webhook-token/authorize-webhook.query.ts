import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthorizeWebhook, WebhookCaller } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { WebhookRate } from '../webhook/webhook-rate.js';
import { InvokedAgents } from './invoked-agents.js';

/** Wrong tokens share a count of their own, so that guessing slows no valid caller. */
const WRONG_TOKENS = 'wrong';

/** Says who may invoke the webhook of an agent, from rows that are read at every call. */
@Injectable()
export class AuthorizeWebhookQuery {
  constructor(
    private readonly agents: InvokedAgents,
    private readonly rate: WebhookRate,
  ) {}

  /** `known`: the agent's account, which saves a request if the caller knows it. Errors: see `webhookRequests.authorize`. */
  async authorize(
    { agentId, tokenHash, tokenRequired }: AuthorizeWebhook,
    known: string | null = null,
  ): Promise<WebhookCaller> {
    const { secret, accountId, suspended } = await this.agents.find({ agentId, accountId: known });
    if (tokenHash === null) {
      if (tokenRequired) throw refused('Send the token of the webhook in X-Service-Webhook-Token.');
      return { accountId, suspended, tokenId: null };
    }
    if (secret === null || !isHashOf(secret.token, tokenHash)) {
      await this.rate.take(agentId, WRONG_TOKENS);
      throw refused('This is not the token of the webhook.');
    }
    return { accountId, suspended, tokenId: secret.tokenId };
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
