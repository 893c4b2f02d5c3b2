import { logUnavailable } from './esdb-errors.js';
import { PositionBeyondLog, type EventStore } from './event-store.js';

const MOST = 10_000;
const TIMEOUT_MS = 4_000;

/** Counts the events of these categories after `position`; stops at 10,000. */
export const countAfter = async (
  store: EventStore,
  categories: readonly string[],
  position: bigint | null,
): Promise<number> => {
  try {
    return await countFrom(store, categories, position);
  } catch (error) {
    // The tables belong to another log: no event of this one is applied yet.
    if (error instanceof PositionBeyondLog) return countFrom(store, categories, null);
    throw error;
  }
};

const countFrom = async (
  store: EventStore,
  categories: readonly string[],
  position: bigint | null,
): Promise<number> => {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const stop = new AbortController();
  const signal = AbortSignal.any([timeout, stop.signal]);
  let count = 0;
  try {
    for await (const item of store.subscribe({ from: position ?? 'start', categories, signal })) {
      if (item.kind === 'event') count++;
      if (item.kind === 'caughtUp' || count >= MOST) return count;
    }
  } finally {
    stop.abort();
  }
  throw logUnavailable(new Error('The subscription did not reach the end of the log in time.'));
};
