import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { hostDecider, type HostCommand } from './host.decider.js';
import { hostCodec } from './host.events.js';
import type { Host, HostEvent } from './host.js';

/** The streams `host-hst_…`. */
@Injectable()
export class HostStreams extends EventStreams<Host, HostCommand, HostEvent> {
  constructor(store: EventStore) {
    super({ store, decider: hostDecider, codec: hostCodec });
  }
}
