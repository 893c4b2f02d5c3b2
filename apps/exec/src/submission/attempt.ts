import { randomUUID } from 'node:crypto';

/** Distinguishes concurrent attempts at one command; the id of the execution derives from the command's id alone. */
export const newAttempt = (): string => randomUUID();
