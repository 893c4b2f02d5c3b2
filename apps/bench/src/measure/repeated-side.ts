import type { Side } from './compare.js';
import { repeatFor } from './loops.js';

export interface Repetition {
  /** Number of concurrent workers; 1 means one after the other. */
  readonly concurrency: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

/** A side that repeats its operation until the round is over; each worker passes its own number. */
export const repeatedSide = (
  name: string,
  { concurrency, warmUpMs, roundMs }: Repetition,
  work: (worker: number) => Promise<unknown>,
): Side => ({
  name,
  warmUp: () => repeatFor(warmUpMs, concurrency, work),
  round: () => repeatFor(roundMs, concurrency, work),
});
