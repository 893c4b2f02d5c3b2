import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { ListWebhookDeliveriesQuery, WebhookStatus } from './webhooks.schemas.js';

export interface AuthorizeWebhook {
  readonly agentId: string;
  /** SHA-256 of the token that the caller sent, hex; null if it sent none. */
  readonly tokenHash: string | null;
  /** Whether a call without a token is refused. */
  readonly tokenRequired: boolean;
}

/** A caller that may invoke the agent. */
export interface WebhookCaller {
  readonly accountId: string;
  /** null for a call without a token. */
  readonly tokenId: string | null;
  /** Why the agent cannot be used now. */
  readonly suspended: 'account_suspended' | 'end_user_suspended' | null;
}

/** `invoke` authorizes the caller again, like `authorize`. */
export interface InvokeWebhook extends CommandEnvelope, AuthorizeWebhook {
  readonly message: string;
  readonly contentType: string | null;
  /** Size of the request's body. */
  readonly bytes: number;
}

export interface AcceptedWebhook {
  readonly accepted: true;
  readonly deliveryId: string;
  readonly agentId: string;
  readonly status: 'queued';
}

export interface RedeliverWebhook extends CommandEnvelope {
  readonly agentId: string;
  readonly deliveryId: string;
}

export interface WebhookDeliveryView {
  readonly id: string;
  readonly status: WebhookStatus;
  /** The number of times the message was handed to the agent's program. */
  readonly attempts: number;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Size of the request's body. */
  readonly bytes: number;
}

export interface ListWebhookDeliveries extends NullWhenAbsent<ListWebhookDeliveriesQuery> {
  readonly accountId: string;
  readonly agentId: string;
}

export interface WebhookTokenOf extends CommandEnvelope {
  readonly agentId: string;
}

/** The token is a secret: it is returned to its owner and stored only in sealed form. */
export interface WebhookToken {
  readonly token: string;
  readonly createdAt: string;
}

/**
 * Webhooks of agents. Errors of all: not_found `agent_not_found`. Of `authorize` and `invoke`: unauthenticated
 * `unauthenticated`, exhausted `rate_limited`, unavailable `service_unavailable`. Of `invoke` and `redeliver`: exhausted
 * `rate_limited` and `queue_full`, each with `retryAfterSeconds`, and forbidden `account_suspended` and
 * `end_user_suspended`. Of `redeliver`: not_found `delivery_not_found`, conflict `body_forgotten`.
 */
export const webhookRequests = {
  /** Looks up the token at every call, so that a rotated token stops working at once. Counts wrong tokens. */
  authorize: defineRequest<AuthorizeWebhook, WebhookCaller>('qry.delivery.authorize-webhook.v1'),
  /** Returns once the message is stored; it is then delivered whichever processes die in between. */
  invoke: defineRequest<InvokeWebhook, AcceptedWebhook>('cmd.delivery.invoke-webhook.v1', undefined, {
    whenLost: 'repeat',
  }),
  redeliver: defineRequest<RedeliverWebhook, AcceptedWebhook>(
    'cmd.delivery.redeliver-webhook.v1',
    undefined,
    {
      whenLost: 'repeat',
    },
  ),
  list: defineRequest<ListWebhookDeliveries, Page<WebhookDeliveryView>>('qry.delivery.list-webhooks.v1'),
  /** Creates the token at the first request. */
  token: defineRequest<WebhookTokenOf, WebhookToken>('cmd.delivery.webhook-token.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** Once this has returned, every instance rejects the previous token. */
  rotateToken: defineRequest<WebhookTokenOf, WebhookToken>(
    'cmd.delivery.rotate-webhook-token.v1',
    undefined,
    {
      whenLost: 'repeat',
    },
  ),
};
