import { randomBytes } from 'node:crypto';
import { agentsRequests } from '@berth/contracts/agents';
import type { WebhookToken, WebhookTokenOf } from '@berth/contracts/delivery';
import { deriveId, DomainError, SECRET_PREFIXES } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { WebhookTokenCommand } from './webhook-token.js';
import { WebhookTokenStreams } from './webhook-token.streams.js';
import { WebhookTokenVault } from './webhook-token-vault.js';

const SECRET_BYTES = 32;

/** Issues and rotates the invoke tokens of agents. */
@Injectable()
export class WebhookTokenHandler {
  constructor(
    private readonly streams: WebhookTokenStreams,
    private readonly vault: WebhookTokenVault,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: not_found `agent_not_found`. */
  current(request: WebhookTokenOf): Promise<WebhookToken> {
    return this.handle('Issue', request);
  }

  /** Once it returns, every call looks up the new token. Errors: not_found `agent_not_found`. */
  rotate(request: WebhookTokenOf): Promise<WebhookToken> {
    return this.handle('Rotate', request);
  }

  private async handle(type: WebhookTokenCommand['type'], request: WebhookTokenOf): Promise<WebhookToken> {
    const { agentId, accountId, commandId } = request;
    const addressee = await this.requester.request(agentsRequests.addressee, { agentId });
    if (addressee.accountId !== accountId)
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    const at = new Date().toISOString();
    const command = { type, agentId, tokenId: deriveId('tok', commandId), at };
    const { state, revision } = await this.streams.handle(agentId, command, request);
    if (state.tokenId === null || revision === null) throw new Error('A token was issued and is absent.');
    const { tokenId, createdAt } = state;
    // If an earlier attempt died before it stored a token, no caller has seen one, so a new secret may replace it.
    const token = `${SECRET_PREFIXES.webhookToken}_${randomBytes(SECRET_BYTES).toString('hex')}`;
    const stored = await this.vault.store({ agentId, tokenId, revision, token, createdAt });
    return { token: stored.token, createdAt: stored.createdAt };
  }
}
