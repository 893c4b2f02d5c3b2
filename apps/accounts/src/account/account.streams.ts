import { EventStreams, EventStore } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import type { AccountEvent, AccountState } from './account.js';
import { accountDecider, type AccountCommand } from './account.decider.js';
import { accountCodec } from './account.events.js';

/** Loads the streams `account-…` and appends the events that their decider decides. */
@Injectable()
export class AccountStreams extends EventStreams<AccountState, AccountCommand, AccountEvent> {
  constructor(store: EventStore) {
    super({ store, decider: accountDecider, codec: accountCodec });
  }
}
