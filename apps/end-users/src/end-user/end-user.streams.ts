import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import type { EndUser, EndUserEvent } from './end-user.js';
import { endUserDecider, type EndUserCommandToDecide } from './end-user.decider.js';
import { endUserCodec } from './end-user.events.js';

/** Executes commands on the streams `endUser-…`. */
@Injectable()
export class EndUserStreams extends EventStreams<EndUser, EndUserCommandToDecide, EndUserEvent> {
  constructor(store: EventStore) {
    super({ store, decider: endUserDecider, codec: endUserCodec });
  }
}
