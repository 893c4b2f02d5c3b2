import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  capThresholdsDecider,
  type CapThresholdReached,
  type RecordedThreshold,
  type RecordUse,
} from './cap-thresholds.js';
import { capThresholdsCodec } from './cap-thresholds.events.js';

@Injectable()
export class CapThresholdsStreams extends EventStreams<RecordedThreshold, RecordUse, CapThresholdReached> {
  constructor(store: EventStore) {
    super({ store, decider: capThresholdsDecider, codec: capThresholdsCodec });
  }
}
