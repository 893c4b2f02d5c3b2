import pLimit, { type LimitFunction } from 'p-limit';

/**
 * Creations, and deletions, of one process at a time. More would only make each other, and all other work, wait for a
 * connection to the database until their time is up.
 */
const AT_A_TIME = 8;

/** Runs work a few at a time; the rest waits for its turn. */
export const inTurns = (): LimitFunction => pLimit(AT_A_TIME);
