import { EventStreams, EventStore, streamName } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { webhookDecider, type WebhookCommand } from './webhook-delivery.decider.js';
import { webhookCodec } from './webhook-delivery.events.js';
import type { WebhookDelivery, WebhookEvent } from './webhook-delivery.js';

/** Loads the streams `webhookDelivery-…` and appends the events that their decider decides. */
@Injectable()
export class WebhookStreams extends EventStreams<WebhookDelivery, WebhookCommand, WebhookEvent> {
  constructor(private readonly store: EventStore) {
    super({ store, decider: webhookDecider, codec: webhookCodec });
  }

  /** When the log recorded the acceptance, by its own clock, in milliseconds; null if it did not. */
  async recordedAt(deliveryId: string): Promise<number | null> {
    const [accepted] = await this.store.read(streamName(webhookCodec.category, deliveryId));
    return accepted?.createdAt.getTime() ?? null;
  }
}
