import { connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { openDatabase } from '@berth/persistence';
import { EventStoreDBClient, START } from '@eventstore/db-client';
import { BenchError } from '../bench-error.js';
import { compare, type Side } from '../measure/compare.js';
import { bulk } from '../measure/loops.js';
import { BOAT_CATEGORY, boatListProjection } from '../rebuild/boat-list.projection.js';
import { fillLog } from '../rebuild/fill-log.js';
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
        ours: side('ProjectionRunner.rebuild', () => rebuild(runner)),
        limits: [
          side('bare EventStoreDBClient.readAll', () => readBare(client)),
          side('EventStore port, read and discarded', () => readPort(store)),
        ],
      } as const;
      return [await compare(plan, effort.longRounds)];
    } finally {
      await database.close();
      await store.close();
      await client.dispose();
    }
  },
};

const side = (name: string, read: () => Promise<number>): Side => ({
  name,
  warmUp: read,
  round: () => bulk(read),
});

const rebuild = async (runner: ProjectionRunner): Promise<number> => {
  let applied = 0;
  await runner.rebuild((progress) => (applied = progress.applied), AbortSignal.timeout(120_000));
  if (applied === 0) throw new BenchError('The rebuild applied nothing.');
  return applied;
};

const readBare = async (client: EventStoreDBClient): Promise<number> => {
  let count = 0;
  for await (const { event } of client.readAll({ fromPosition: START })) if (event !== undefined) count++;
  return count;
};

const readPort = async (store: EventStore): Promise<number> => {
  const stop = new AbortController();
  let count = 0;
  for await (const item of store.subscribe({
    from: 'start',
    categories: [BOAT_CATEGORY],
    signal: stop.signal,
  })) {
    if (item.kind === 'event') count++;
    if (item.kind === 'caughtUp') stop.abort();
  }
  return count;
};
