import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { deliveryDecider, type DeliveryCommand } from './delivery.decider.js';
import { deliveryCodec } from './delivery.events.js';
import type { Delivery, DeliveryEvent } from './delivery.js';

/** Loads the streams `delivery-…` and appends the events that their decider decides. */
@Injectable()
export class DeliveryStreams extends EventStreams<Delivery, DeliveryCommand, DeliveryEvent> {
  constructor(store: EventStore) {
    super({ store, decider: deliveryDecider, codec: deliveryCodec });
  }
}
