import { EventStore, EventStreams, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  accountLedgerDecider,
  type AccountLedger,
  type AccountLedgerCommand,
} from './account-ledger.decider.js';
import { accountLedgerCodec, type AccountLedgerEvent } from './account-ledger.events.js';

const SNAPSHOT = { version: 1, every: 256 };

@Injectable()
export class AccountLedgerStreams extends EventStreams<
  AccountLedger,
  readonly AccountLedgerCommand[],
  AccountLedgerEvent
> {
  constructor(store: EventStore, table: SnapshotTable) {
    super({
      store,
      decider: accountLedgerDecider,
      codec: accountLedgerCodec,
      maxConflicts: 50,
      snapshots: { table, ...SNAPSHOT },
    });
  }
}
