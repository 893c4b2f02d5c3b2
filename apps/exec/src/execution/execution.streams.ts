import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { executionDecider, type ExecutionCommand } from './execution.decider.js';
import { executionCodec } from './execution.events.js';
import type { Execution, ExecutionEvent } from './execution.js';

/** Loads the streams `execution-…` and appends the events that their decider decides. */
@Injectable()
export class ExecutionStreams extends EventStreams<Execution, ExecutionCommand, ExecutionEvent> {
  constructor(store: EventStore) {
    super({ store, decider: executionDecider, codec: executionCodec });
  }
}
