import type { EventStore, ProjectionRunner } from '@berth/event-store';
import { START, type EventStoreDBClient } from '@eventstore/db-client';
import { BenchError } from '../bench-error.js';
import type { Side } from '../measure/compare.js';
import { bulk } from '../measure/loops.js';

const REBUILD_WITHIN_MS = 600_000;

/** A side whose operation takes a whole round; it returns the number of events. */
export const bulkSide = (name: string, read: () => Promise<number>): Side => ({
  name,
  warmUp: read,
  round: () => bulk(read),
});

export const rebuild = async (runner: ProjectionRunner): Promise<number> => {
  let applied = 0;
  const timeout = AbortSignal.timeout(REBUILD_WITHIN_MS);
  await runner.rebuild((progress) => (applied = progress.applied), timeout);
  if (timeout.aborted) throw new BenchError('The rebuild did not end in time.');
  if (applied === 0) throw new BenchError('The rebuild applied nothing.');
  return applied;
};

export const readBare = async (client: EventStoreDBClient): Promise<number> => {
  let count = 0;
  for await (const { event } of client.readAll({ fromPosition: START })) if (event !== undefined) count++;
  return count;
};

export const readPort = async (store: EventStore, categories: readonly string[]): Promise<number> => {
  const stop = new AbortController();
  let count = 0;
  for await (const item of store.subscribe({
    from: 'start',
    categories,
    signal: stop.signal,
  })) {
    if (item.kind === 'event') count++;
    if (item.kind === 'caughtUp') stop.abort();
  }
  return count;
};
