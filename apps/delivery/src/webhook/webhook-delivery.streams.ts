import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { webhookDecider, type WebhookCommand } from './webhook-delivery.decider.js';
import { webhookCodec } from './webhook-delivery.events.js';
import type { WebhookDelivery, WebhookEvent } from './webhook-delivery.js';

/** Loads the streams `webhookDelivery-…` and appends the events that their decider decides. */
@Injectable()
export class WebhookStreams extends EventStreams<WebhookDelivery, WebhookCommand, WebhookEvent> {
  constructor(store: EventStore) {
    super({ store, decider: webhookDecider, codec: webhookCodec });
  }
}
