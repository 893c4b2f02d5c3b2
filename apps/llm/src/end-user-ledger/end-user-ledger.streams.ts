import { EventStore, EventStreams, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  endUserLedgerDecider,
  type EndUserLedger,
  type EndUserLedgerCommand,
} from './end-user-ledger.decider.js';
import { endUserLedgerCodec, type EndUserLedgerEvent } from './end-user-ledger.events.js';

const SNAPSHOT = { version: 1, every: 256 };

@Injectable()
export class EndUserLedgerStreams extends EventStreams<
  EndUserLedger,
  readonly EndUserLedgerCommand[],
  EndUserLedgerEvent
> {
  constructor(store: EventStore, table: SnapshotTable) {
    super({
      store,
      decider: endUserLedgerDecider,
      codec: endUserLedgerCodec,
      maxConflicts: 50,
      snapshots: { table, ...SNAPSHOT },
    });
  }
}
