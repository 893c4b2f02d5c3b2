export const DAY_MS = 86_400_000;

/** The number of a UTC day: whole days since 1970-01-01. */
export const dayOf = (millis: number): number => Math.floor(millis / DAY_MS);

/** `2026-11-23`. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
