import { WEBHOOK_STATUSES, type AcceptedWebhook, type WebhookDeliveryView } from '@berth/contracts/delivery';
import { integer, object, page, text, time, timeOrNull, view, type JsonSchema } from './json-schema.js';

const deliveryId: JsonSchema = { ...text, examples: ['dlv_01jd2m3k4n5p6q7r8s9t0v1w2x'] };

/** The schemas of responses about webhooks. */
export const WEBHOOK_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  AcceptedWebhook: view<AcceptedWebhook>({
    accepted: { const: true },
    deliveryId,
    agentId: text,
    status: { const: 'queued' },
  }),
  WebhookDelivery: view<WebhookDeliveryView>({
    id: deliveryId,
    status: { enum: [...WEBHOOK_STATUSES] },
    attempts: integer,
    createdAt: time,
    deliveredAt: timeOrNull,
    error: { anyOf: [object({ code: text, message: text }), { type: 'null' }] },
    bytes: { ...integer, description: "Size of the request's body." },
  }),
  WebhookDeliveries: page('WebhookDelivery'),
  WebhookToken: object({
    token: { ...text, description: 'Send it in `X-Service-Webhook-Token`.' },
    url: { ...text, description: 'The address to invoke; it contains the token.' },
    createdAt: time,
  }),
};
