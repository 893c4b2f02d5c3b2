import { randomBytes } from 'node:crypto';

/** A clock that never jumps. Only times of the same clock, with the same id, can be compared. */
export interface MonotonicClock {
  readonly id: string;
  /** Milliseconds since an arbitrary moment. */
  now(): number;
}

/** The clock of this process, with a new id at each start. */
export const processClock: MonotonicClock = {
  id: randomBytes(9).toString('base64url'),
  now: () => performance.now(),
};
