import { randomUUID } from 'node:crypto';
import { EventStreams, connectEventStore, SnapshotTable, type EventStore } from '@berth/event-store';
import { openDatabase } from '@berth/persistence';
import { BenchError } from '../bench-error.js';
import { newEvent } from '../log/append-event.js';
import { counterCodec, counterDecider } from '../log/counter.decider.js';
import { compare } from '../measure/compare.js';
import { bulk, timed } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import type { Part } from './part.js';

const SHORT = 10;
const AT_ONCE = 500;

/** Loads a long stream with a snapshot, compared with a short stream and with reading the whole long one. */
export const loadPart: Part = {
  name: 'load',
  async run(context) {
    const { effort, log } = context;
    const { eventStoreUrl, databaseUrl } = await context.infrastructure();
    const store = connectEventStore({ url: eventStoreUrl, log });
    const database = await openDatabase({
      url: databaseUrl,
      schema: 'bench_load',
      migrations: [],
      applicationName: 'bench',
      log,
    });
    try {
      const table = new SnapshotTable(database, log);
      const long = await fill(store, effort.rebuildEvents);
      const short = await fill(store, SHORT);
      const loader =
        (id: string, count: number, snapshots = true) =>
        (): Promise<void> =>
          load(store, snapshots ? table : undefined, id, count);
      const often = { ...effort, concurrency: 1 };
      await untilShort(loader(long, effort.rebuildEvents));
      const plan = {
        title: `Loading a stream of ${effort.rebuildEvents.toLocaleString('en')} events`,
        measure: 'time',
        aim: 3,
        ours: repeatedSide('with a snapshot', often, loader(long, effort.rebuildEvents)),
        limits: [
          repeatedSide(`a stream of ${SHORT} events`, often, loader(short, SHORT)),
          {
            name: 'without a snapshot',
            warmUp: loader(long, effort.rebuildEvents, false),
            round: () => bulk(async () => (await loader(long, effort.rebuildEvents, false)(), 1)),
          },
        ],
      } as const;
      return [await compare(plan, effort.longRounds)];
    } finally {
      await database.close();
      await store.close();
    }
  },
};

/** Loads like a process that has just started, with nothing in memory. */
const load = async (
  store: EventStore,
  table: SnapshotTable | undefined,
  id: string,
  count: number,
): Promise<void> => {
  const handler = new EventStreams({
    store,
    decider: counterDecider,
    codec: counterCodec,
    ...(table === undefined ? {} : { snapshots: { table, version: 1 } }),
  });
  const { state } = await handler.load(id);
  if (state !== count) throw new BenchError(`The stream has ${state} events instead of ${count}.`);
};

/** The first load stores a snapshot in the background; returns once a load uses it. */
const untilShort = async (loadOnce: () => Promise<void>): Promise<void> => {
  const whole = await timed(loadOnce);
  for (let tries = 0; tries < 100; tries++) if ((await timed(loadOnce)) < whole / 4) return;
  throw new BenchError('No load used a snapshot.');
};

/** Writes a stream of `count` events; returns its id. */
const fill = async (store: EventStore, count: number): Promise<string> => {
  const id = randomUUID();
  let revision: bigint | 'no_stream' = 'no_stream';
  for (let left = count; left > 0; left -= AT_ONCE) {
    const events = Array.from({ length: Math.min(left, AT_ONCE) }, newEvent);
    ({ revision } = await store.append(`${counterCodec.category}-${id}`, events, revision));
  }
  return id;
};
