import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import type { Decider } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { evolveRow, type ComputerRow } from '../computer-list/computer-row.js';
import type { ComputerCommand } from './computer.commands.js';
import { computerDecider } from './computer.decider.js';
import { computerCodec } from './computer.events.js';
import type { Computer, ComputerEvent } from './computer.js';
import { SNAPSHOT_VERSIONS } from './snapshot-versions.js';

/** A computer and its row of the list, both folded from its events. */
export interface ComputerWithRow {
  readonly computer: Computer;
  readonly row: ComputerRow | null;
}

export const computerWithRowDecider: Decider<ComputerWithRow, ComputerCommand, ComputerEvent> = {
  initial: { computer: computerDecider.initial, row: null },
  decide: (command, { computer }) => computerDecider.decide(command, computer),
  evolve: ({ computer, row }, event) => ({
    computer: computerDecider.evolve(computer, event),
    row: evolveRow(row, event),
  }),
};

/** Loads the streams `computer-cmp_…` and appends the events that their decider decides. */
@Injectable()
export class ComputerStreams extends EventStreams<ComputerWithRow, ComputerCommand, ComputerEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: computerWithRowDecider,
      codec: computerCodec,
      cacheSize: 5_000,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSIONS.computer },
    });
  }
}
