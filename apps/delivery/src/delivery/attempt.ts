import { randomUUID } from 'node:crypto';

/** Distinguishes the attempts of one command. Nothing derives from it. */
export const newAttempt = (): string => randomUUID();
