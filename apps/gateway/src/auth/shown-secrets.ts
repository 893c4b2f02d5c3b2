import { agentsRequests } from '@berth/contracts/agents';
import { computersRequests } from '@berth/contracts/computers';
import { webhookRequests } from '@berth/contracts/delivery';
import { isDomainError } from '@berth/kernel';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { HttpRefusal } from '../http/http-refusal.js';
import { secretHashOf, secretInUrl } from '../computers/viewer/viewer-secrets.js';
import { Authenticators, HolderSuspended, LOOKUP_WITHIN_MS } from './authenticators.js';
import { credentialIn } from './credentials.js';
import type { Principal } from './principal.js';

/** Finds out whether a key, a token or the URL of a viewer that was shown to its owner is still valid. */
@Injectable()
export class ShownSecrets {
  constructor(
    private readonly authenticators: Authenticators,
    private readonly requester: Requester,
  ) {}

  /**
   * Returns whether a key, a token or the URL of a viewer is valid. One of a suspended holder is, because it works again after the suspension.
   * `agentId` is the agent whose webhook a webhook's token invokes. Errors: unavailable `service_unavailable`.
   */
  async isValid(secret: string, agentId: string): Promise<boolean> {
    try {
      await this.#lookUp(secret, agentId);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw asLookUpFailure(error);
    }
  }

  #lookUp(secret: string, agentId: string): Promise<unknown> {
    const ofViewer = secretInUrl(secret);
    if (ofViewer !== undefined)
      return this.requester.request(
        computersRequests.findViewer,
        { secretHash: secretHashOf(ofViewer) },
        DEADLINE,
      );
    return credentialIn(secret)?.kind === 'webhook'
      ? this.#authorize(secret, agentId)
      : this.#authenticate(secret);
  }

  async #authenticate(secret: string): Promise<void> {
    const principal = await this.#holderOf(secret);
    if (principal.kind !== 'end_user') return;
    // A token outlives its agent, but reaches nothing any more.
    const { accountId, agentId } = principal;
    await this.requester.request(agentsRequests.get, { accountId, agentId, wait: null }, DEADLINE);
  }

  async #holderOf(secret: string): Promise<Principal> {
    try {
      return await this.authenticators.authenticate(credentialIn(secret), { isRequest: false });
    } catch (error) {
      if (error instanceof HolderSuspended) return error.principal;
      throw error;
    }
  }

  async #authorize(token: string, agentId: string): Promise<void> {
    const tokenHash = credentialIn(token)?.hash ?? '';
    const wanted = { agentId, tokenHash, tokenRequired: true };
    await this.requester.request(webhookRequests.authorize, wanted, DEADLINE);
  }
}

const DEADLINE = { deadlineMs: LOOKUP_WITHIN_MS };

/** `exhausted`: this token is wrong, and so were too many before it. */
const isRefusal = (error: unknown): boolean =>
  (error instanceof HttpRefusal && error.status === 401) ||
  (['unauthenticated', 'not_found', 'exhausted'] as const).some((kind) => isDomainError(error, kind));
