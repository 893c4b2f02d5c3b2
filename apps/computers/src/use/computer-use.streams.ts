import { EventStore, EventStreams, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { SNAPSHOT_VERSIONS } from '../computer/snapshot-versions.js';
import {
  computerUseCodec,
  computerUseDecider,
  type ComputerUse,
  type ComputerUseEvent,
  type RecordUse,
} from './computer-use.js';

/** Loads the streams `computerUse-cmp_…` and appends the events that their decider decides. */
@Injectable()
export class ComputerUseStreams extends EventStreams<ComputerUse, RecordUse, ComputerUseEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: computerUseDecider,
      codec: computerUseCodec,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSIONS.computerUse },
    });
  }
}
