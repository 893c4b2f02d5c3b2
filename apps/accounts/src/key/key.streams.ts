import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import type { KeyEvent, KeyState } from './key.js';
import { keyDecider, type KeyCommand } from './key.decider.js';
import { keyCodec } from './key.events.js';

/** Loads the streams `key-…` and appends the events that their decider decides. */
@Injectable()
export class KeyStreams extends EventStreams<KeyState, KeyCommand, KeyEvent> {
  constructor(store: EventStore) {
    super({ store, decider: keyDecider, codec: keyCodec });
  }
}
