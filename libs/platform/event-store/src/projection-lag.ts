import { logUnavailable } from './esdb-errors.js';
import { PositionBeyondLog, type EventStore } from './event-store.js';

const MOST = 10_000;
const PATIENCE_MS = 4_000;

/** How many events of these categories follow `position`; stops counting at 10,000. */
export const countAfter = async (
  store: EventStore,
  categories: readonly string[],
  position: bigint | null,
): Promise<number> => {
  try {
    return await countFrom(store, categories, position);
  } catch (error) {
    // Nothing of this log was applied yet.
    if (error instanceof PositionBeyondLog) return countFrom(store, categories, null);
    throw error;
  }
};

const countFrom = async (
  store: EventStore,
  categories: readonly string[],
  position: bigint | null,
): Promise<number> => {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const stop = new AbortController();
  const signal = AbortSignal.any([patience, stop.signal]);
  let count = 0;
  try {
    for await (const item of store.subscribe({ from: position ?? 'start', categories, signal })) {
      if (item.kind === 'event') count++;
      if (item.kind === 'caughtUp' || count >= MOST) return count;
    }
  } finally {
    stop.abort();
  }
  throw logUnavailable(new Error('The end of the log was not reached in time.'));
};
