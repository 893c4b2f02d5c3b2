import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  webhookTokenCodec,
  webhookTokenDecider,
  type WebhookTokenCommand,
  type WebhookTokenEvent,
  type WebhookTokenState,
} from './webhook-token.js';

/** Loads the streams `webhookToken-…` and appends the events that their decider decides. */
@Injectable()
export class WebhookTokenStreams extends EventStreams<
  WebhookTokenState,
  WebhookTokenCommand,
  WebhookTokenEvent
> {
  constructor(store: EventStore) {
    super({ store, decider: webhookTokenDecider, codec: webhookTokenCodec });
  }
}
