/** The source of the current time, and the token by which providers inject it; tests inject a fixed one. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Formats a time as ISO 8601 UTC with milliseconds, the format of every time in the public API. */
export const isoTime = (millis: number): string => new Date(millis).toISOString();
