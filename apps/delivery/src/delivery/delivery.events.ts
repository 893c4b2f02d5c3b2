import type { EventCodec } from '@berth/event-store';
import type { DeliveryEvent } from './delivery.js';

const STORED_TYPES: ReadonlySet<string> = new Set<DeliveryEvent['type']>([
  'MessageAccepted',
  'MessageAnswered',
  'MessageFailed',
  'MessageRefused',
]);

const isDeliveryEvent = (stored: { readonly type: string }): stored is DeliveryEvent =>
  STORED_TYPES.has(stored.type);

/** Codec of the streams `delivery-dlv_…`. */
export const deliveryCodec: EventCodec<DeliveryEvent> = {
  category: 'delivery',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isDeliveryEvent(stored))
      throw new Error(`A delivery stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
