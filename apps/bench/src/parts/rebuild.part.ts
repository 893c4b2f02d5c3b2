import { connectEventStore, ProjectionRunner } from '@berth/event-store';
import { openDatabase } from '@berth/persistence';
import { EventStoreDBClient } from '@eventstore/db-client';
import { compare } from '../measure/compare.js';
import { BOAT_CATEGORY, boatListProjection } from '../rebuild/boat-list.projection.js';
import { fillLog } from '../rebuild/fill-log.js';
import { bulkSide, readBare, readPort, rebuild } from '../rebuild/whole-log.js';
import type { Part } from './part.js';

/** Rebuilds a projection's tables from the whole log, compared with only reading that log. */
export const rebuildPart: Part = {
  name: 'rebuild',
  async run(context) {
    const { effort, log } = context;
    const { eventStoreUrl, databaseUrl } = await context.infrastructure();
    const client = EventStoreDBClient.connectionString(eventStoreUrl);
    const store = connectEventStore({ url: eventStoreUrl, log });
    const database = await openDatabase({
      url: databaseUrl,
      schema: 'bench',
      migrations: [],
      applicationName: 'bench',
      log,
    });
    try {
      await fillLog(client, effort.rebuildEvents);
      const runner = new ProjectionRunner({ store, database, projection: boatListProjection, log });
      const plan = {
        title: `Rebuild of a projection, ${effort.rebuildEvents.toLocaleString('en')} events`,
        measure: 'rate',
        aim: 0.6,
        ours: bulkSide('ProjectionRunner.rebuild', () => rebuild(runner)),
        limits: [
          bulkSide('bare EventStoreDBClient.readAll', () => readBare(client)),
          bulkSide('EventStore port, read and discarded', () => readPort(store, [BOAT_CATEGORY])),
        ],
      } as const;
      return [await compare(plan, effort.longRounds)];
    } finally {
      await database.close();
      await store.close();
      await client.dispose();
      // A Berth started on this log would first read all its events for each of its projections.
      await context.discardInfrastructure();
    }
  },
};
