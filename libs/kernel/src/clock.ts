/** Where time comes from, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 UTC with milliseconds, the form of every time in the public API. */
export const isoTime = (millis: number): string => new Date(millis).toISOString();
