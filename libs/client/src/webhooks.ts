import { anyBody } from './any-body.js';
import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type { AcceptedWebhook, WebhookDelivery, WebhookToken } from './types.js';
import { route, textOf } from './values.js';

/** Filters and the page of `webhooks.deliveries`. */
export type ListDeliveries = QueryOf<'/api/webhooks/{agent_id}/deliveries'>;

/** How the signatures of invokes are verified. */
export interface WebhookVerification {
  readonly scheme: 'github' | 'stripe' | 'slack' | 'standard' | 'none';
  /** The name of the agent's secret variable with the secret of the signatures. */
  readonly secretEnv?: string | null;
}

/** How a webhook is invoked. */
export interface InvokeOptions {
  /** The token of the webhook; the key of the client is not sent. */
  readonly token?: string | undefined;
}

/** `berth.webhooks` */
export class Webhooks extends Resource {
  /** Returns the token and the URL to invoke: `GET /api/webhooks/{id}/token`. */
  async token(id: string, options?: CallOptions): Promise<WebhookToken> {
    return this.read(route`/api/webhooks/${id}/token`, options);
  }

  /** Replaces the token; the old one is refused from then on: `POST /api/webhooks/{id}/token/rotate`. */
  async rotate(id: string, options?: CallOptions): Promise<WebhookToken> {
    return this.transport.object({ method: 'POST', path: route`/api/webhooks/${id}/token/rotate` }, options);
  }

  /** How signatures are verified: `GET /api/webhooks/{id}/verification`. */
  async getVerification(id: string, options?: CallOptions): Promise<WebhookVerification> {
    return this.read(route`/api/webhooks/${id}/verification`, options);
  }

  /** Sets how signatures are verified: `PUT /api/webhooks/{id}/verification`. */
  async setVerification(
    id: string,
    verification: WebhookVerification,
    options?: CallOptions,
  ): Promise<WebhookVerification> {
    const body = jsonBody(verification);
    return this.transport.object(
      { method: 'PUT', path: route`/api/webhooks/${id}/verification`, body },
      options,
    );
  }

  /**
   * Sends a message as others do: `POST /api/webhooks/{id}`. An object is sent as JSON, text as `text/plain`, bytes as
   * they are. Returns when the message is stored; it is delivered afterwards. Repeated only after 429.
   */
  async invoke(
    id: string,
    body: unknown,
    { token }: InvokeOptions = {},
    options?: CallOptions,
  ): Promise<AcceptedWebhook> {
    const headers: Record<string, string> =
      token === undefined ? {} : { 'x-service-webhook-token': textOf(token, 'token') };
    return this.transport.object(
      {
        method: 'POST',
        path: route`/api/webhooks/${id}`,
        body: anyBody(body),
        headers,
        repeat: 'busy',
        anonymous: true,
      },
      options,
    );
  }

  /** Lists the deliveries of 30 days, newest first: `GET /api/webhooks/{id}/deliveries`. */
  deliveries(id: string, query: ListDeliveries = {}, options?: CallOptions): PagePromise<WebhookDelivery> {
    return this.pages(() => route`/api/webhooks/${id}/deliveries`, options, query);
  }

  /** Delivers a message again. Rejects with `ServiceConflictError` `body_forgotten` 24 h after its end. */
  async redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<AcceptedWebhook> {
    const path = route`/api/webhooks/${id}/deliveries/${deliveryId}/redeliver`;
    return this.transport.object({ method: 'POST', path }, options);
  }
}
