import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { tokenCodec } from './token.events.js';
import { tokensDecider, type TokenCommand, type TokenEvent, type Tokens } from './tokens.decider.js';

/** Executes commands on the streams `endUserTokens-…`. */
@Injectable()
export class TokenStreams extends EventStreams<Tokens, TokenCommand, TokenEvent> {
  constructor(store: EventStore, table: SnapshotTable) {
    super({ store, decider: tokensDecider, codec: tokenCodec, snapshots: { table, version: 1 } });
  }
}
