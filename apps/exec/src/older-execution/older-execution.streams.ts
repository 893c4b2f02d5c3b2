import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { olderExecutionCodec } from './older-execution.events.js';
import {
  olderExecutionDecider,
  type OlderExecution,
  type OlderExecutionSubmitted,
  type SubmitOlderExecution,
} from './older-execution.js';

@Injectable()
export class OlderExecutionStreams extends EventStreams<
  OlderExecution,
  SubmitOlderExecution,
  OlderExecutionSubmitted
> {
  constructor(store: EventStore) {
    super({ store, decider: olderExecutionDecider, codec: olderExecutionCodec });
  }
}
