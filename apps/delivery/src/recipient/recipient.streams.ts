import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  recipientCodec,
  recipientDecider,
  type Recipient,
  type RecipientCommand,
  type RecipientEvent,
} from './recipient.js';

/** Loads the streams `recipient-…` and appends the events that their decider decides. */
@Injectable()
export class RecipientStreams extends EventStreams<Recipient, RecipientCommand, RecipientEvent> {
  constructor(store: EventStore) {
    super({ store, decider: recipientDecider, codec: recipientCodec, cacheSize: 100 });
  }
}
