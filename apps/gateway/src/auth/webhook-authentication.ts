import type { IncomingHttpHeaders } from 'node:http';
import { webhookRequests, type AuthorizeWebhook, type WebhookCaller } from '@berth/contracts/delivery';
import { isId } from '@berth/kernel';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import { paramsOf } from '../http/resource.js';
import { accessRefusal } from './access.js';
import { accountSuspended, Authenticators, endUserSuspended, LOOKUP_WITHIN_MS } from './authenticators.js';
import { bearerOf, hashKey, hasSecretOfAccount } from './credentials.js';
import { identify } from './identify.js';
import type { WebhookPrincipal } from './principal.js';
import { RecentCallers } from './recent-callers.js';
import { RefusedCallers } from './refused-callers.js';

const HEADER = 'x-service-webhook-token';

/** Callers without a token get these with every response (RFC 9745, RFC 9111 §5.5). */
const WITHOUT_TOKEN = {
  deprecation: 'true',
  warning: '299 - "Calls without a token are deprecated: send X-Service-Webhook-Token."',
};

/**
 * The token of an invoke: the header's, else that of `?token=`; undefined without one. An empty one is a token, which is
 * wrong; so is a repeated one.
 */
export const webhookTokenOf = ({
  headers,
  query,
}: {
  readonly headers: IncomingHttpHeaders;
  readonly query: unknown;
}): string | undefined => {
  const header = headers[HEADER];
  if (header !== undefined) return String(header);
  const token = Object(query).token as unknown;
  return token === undefined || typeof token === 'string' ? token : '';
};

/** Who invokes: `tokenHash` is null without a token. */
type Invoker = Pick<AuthorizeWebhook, 'agentId' | 'tokenHash'>;

const invokerOf = (request: ApiRequest): Invoker => {
  const token = webhookTokenOf(request);
  return {
    agentId: paramsOf(request)['agent_id'] ?? '',
    tokenHash: token === undefined ? null : hashKey(token),
  };
};

/** Finds out who invokes a webhook. */
@Injectable()
export class WebhookAuthentication {
  /** Callers that were authorized a moment ago. */
  readonly #recent = new RecentCallers<WebhookCaller>();
  /** Callers with a wrong token, or with none. A right one may end, so that its caller is always looked up. */
  readonly #refused = new RefusedCallers();

  constructor(
    private readonly authenticators: Authenticators,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    @Inject(GatewayConfig) private readonly config: Pick<GatewayConfig, 'requireWebhookTokens'>,
  ) {}

  /**
   * Sets the caller. Who was authorized a moment ago may send the body, and is authorized with it, which saves a request.
   * Errors: 404 before 401, 429 for too many wrong tokens, 403 for a suspended owner.
   */
  async authenticate(request: ApiRequest, reply: ApiReply): Promise<void> {
    if (hasSecretOfAccount(request.query))
      throw unauthenticated('Send credentials in the Authorization header, never in the address.');
    await this.refuseOthers(request);
    const invoker = invokerOf(request);
    const { agentId } = invoker;
    if (!isId('agt', agentId)) throw new HttpRefusal(404, 'agent_not_found', 'There is no such agent.');
    // A stored answer is for callers that are authorized now.
    const isRepeatable = request.headers['idempotency-key'] !== undefined;
    if (!isRepeatable) await this.#refused.refuseKnown(keyOf(invoker));
    const known = isRepeatable ? undefined : this.#recent.get(keyOf(invoker));
    const { accountId, tokenId, suspended } = known ?? (await this.lookUp(invoker));
    const principal: WebhookPrincipal = { kind: 'webhook', accountId, agentId, tokenId };
    request.principal = principal;
    if (suspended === 'account_suspended') throw accountSuspended(principal);
    if (suspended === 'end_user_suspended') throw endUserSuspended(principal);
    this.#recent.add(keyOf(invoker), { accountId, tokenId, suspended: null });
    if (tokenId === null) reply.headers(WITHOUT_TOKEN);
  }

  /** What authorizes the request with its command. */
  claimOf(request: ApiRequest): AuthorizeWebhook {
    return { ...invokerOf(request), tokenRequired: this.config.requireWebhookTokens };
  }

  /** The command was refused: the next one of its caller is refused, too, or looked up before its body is read. */
  noteRefusal(request: ApiRequest, error: unknown): void {
    const invoker = invokerOf(request);
    this.#recent.delete(keyOf(invoker));
    if (invoker.tokenHash === null) this.#refused.note(keyOf(invoker), error);
  }

  /** A credential for something else is refused as everywhere. Only keys are ignored: clients send theirs with every call. */
  private async refuseOthers(request: ApiRequest): Promise<void> {
    const credential = bearerOf(request.headers.authorization);
    if (credential === undefined || credential.kind === 'key') return;
    const principal = await identify(request, this.authenticators, credential);
    throw accessRefusal(principal, {}) ?? unauthenticated();
  }

  private async lookUp(invoker: Invoker): Promise<WebhookCaller> {
    const wanted = { ...invoker, tokenRequired: this.config.requireWebhookTokens };
    const within = { deadlineMs: LOOKUP_WITHIN_MS };
    try {
      return await this.requester.request(webhookRequests.authorize, wanted, within);
    } catch (error) {
      // Only wrong tokens are counted here, and none becomes right: new ones are random.
      this.#refused.note(keyOf(invoker), error);
      throw asLookUpFailure(error);
    }
  }
}

const keyOf = ({ agentId, tokenHash }: Invoker): string => `${agentId} ${tokenHash ?? ''}`;
