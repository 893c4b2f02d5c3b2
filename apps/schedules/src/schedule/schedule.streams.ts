import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { scheduleDecider, type ScheduleCommand } from './schedule.decider.js';
import { scheduleCodec } from './schedule.events.js';
import type { ScheduleEvent, Schedules } from './schedule.js';

/** Increase it whenever events fold to a different state. */
const SNAPSHOT_VERSION = 1;

/** Loads the streams `schedule-agt_…` and appends the events that their decider decides. */
@Injectable()
export class ScheduleStreams extends EventStreams<Schedules, ScheduleCommand, ScheduleEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: scheduleDecider,
      codec: scheduleCodec,
      cacheSize: 5_000,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSION },
    });
  }
}
