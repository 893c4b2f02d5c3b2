import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { defaultsDecider, type Defaults, type DefaultsCommand, type DefaultsEvent } from './defaults.js';
import { defaultsCodec } from './defaults.events.js';

/** Executes commands on the streams `endUserDefaults-…`, one for each account. */
@Injectable()
export class DefaultsStreams extends EventStreams<Defaults, DefaultsCommand, DefaultsEvent> {
  constructor(store: EventStore, table: SnapshotTable) {
    super({ store, decider: defaultsDecider, codec: defaultsCodec, snapshots: { table, version: 1 } });
  }
}
