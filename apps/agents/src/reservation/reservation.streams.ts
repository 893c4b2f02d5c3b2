import { EventStreams, EventStore, SnapshotTable, type EventStreamsOptions } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { SNAPSHOT_VERSIONS } from '../agent/snapshot-versions.js';
import {
  reservationCodec,
  reservationDecider,
  type Reservation,
  type ReservationCategory,
  type ReservationCommand,
  type ReservationEvent,
} from './reservation.js';

/** Loads the streams `agentName-<hash>` and appends the events that their decider decides. */
@Injectable()
export class AgentNameStreams extends EventStreams<Reservation, ReservationCommand, ReservationEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super(optionsOf('agentName', store, snapshots));
  }
}

/** Loads the streams `agentExternalId-<hash>` and appends the events that their decider decides. */
@Injectable()
export class AgentExternalIdStreams extends EventStreams<Reservation, ReservationCommand, ReservationEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super(optionsOf('agentExternalId', store, snapshots));
  }
}

/** Loads the streams `agentOfEndUser-<hash>` and appends the events that their decider decides. */
@Injectable()
export class AgentOfEndUserStreams extends EventStreams<Reservation, ReservationCommand, ReservationEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super(optionsOf('agentOfEndUser', store, snapshots));
  }
}

const optionsOf = (
  category: ReservationCategory,
  store: EventStore,
  table: SnapshotTable,
): EventStreamsOptions<Reservation, ReservationCommand, ReservationEvent> => ({
  store,
  decider: reservationDecider,
  codec: reservationCodec(category),
  cacheSize: 1_000,
  snapshots: { table, version: SNAPSHOT_VERSIONS.reservation },
});
