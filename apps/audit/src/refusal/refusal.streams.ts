import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  refusalDecider,
  type AccessRefused,
  type RecordAccessRefusal,
  type RefusalState,
} from './refusal.js';
import { refusalCodec } from './refusal.events.js';

@Injectable()
export class RefusalStreams extends EventStreams<RefusalState, RecordAccessRefusal, AccessRefused> {
  constructor(store: EventStore) {
    super({ store, decider: refusalDecider, codec: refusalCodec });
  }
}
