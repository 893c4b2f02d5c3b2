import type { Side } from './compare.js';
import { repeatFor } from './loops.js';

export interface Repetition {
  /** How many at a time; 1 is one after the other. */
  readonly concurrency: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

/** A side that does its thing until the round is over, each worker with its own number. */
export const repeatedSide = (
  name: string,
  { concurrency, warmUpMs, roundMs }: Repetition,
  work: (worker: number) => Promise<unknown>,
): Side => ({
  name,
  warmUp: () => repeatFor(warmUpMs, concurrency, work),
  round: () => repeatFor(roundMs, concurrency, work),
});
