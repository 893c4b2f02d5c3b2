import { randomBytes } from 'node:crypto';

/** A clock that never steps. Readings of clocks with different ids cannot be compared. */
export interface MonotonicClock {
  readonly id: string;
  /** Milliseconds since an arbitrary moment. */
  now(): number;
}

/** The clock of this process; its id is new with each start. */
export const processClock: MonotonicClock = {
  id: randomBytes(9).toString('base64url'),
  now: () => performance.now(),
};
