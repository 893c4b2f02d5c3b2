import type { EventCodec } from '@berth/event-store';
import type { WebhookEvent } from './webhook-delivery.js';

const STORED_TYPES: ReadonlySet<string> = new Set<WebhookEvent['type']>([
  'WebhookAccepted',
  'WebhookAttemptFailed',
  'WebhookDelivered',
  'WebhookFailed',
]);

const isWebhookEvent = (stored: { readonly type: string }): stored is WebhookEvent =>
  STORED_TYPES.has(stored.type);

/** Codec of the streams `webhookDelivery-dlv_…`. */
export const webhookCodec: EventCodec<WebhookEvent> = {
  category: 'webhookDelivery',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isWebhookEvent(stored))
      throw new Error(`A webhook stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
