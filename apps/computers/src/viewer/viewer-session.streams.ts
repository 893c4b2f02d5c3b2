import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  viewerSessionCodec,
  viewerSessionDecider,
  type ViewerSession,
  type ViewerSessionCommand,
  type ViewerSessionEvent,
} from './viewer-session.js';

/** Loads the streams `viewerSession-vws_…` and appends the events that their decider decides. */
@Injectable()
export class ViewerSessionStreams extends EventStreams<
  ViewerSession,
  ViewerSessionCommand,
  ViewerSessionEvent
> {
  constructor(store: EventStore) {
    super({ store, decider: viewerSessionDecider, codec: viewerSessionCodec });
  }
}
