import type { Writable } from 'node:stream';
import { inspect } from 'node:util';

/** The host keeps what a guest prints until its next start. */
const MOST = 100;

/** Prints the first promises that are rejected without a handler. By default, one would end the agent. */
export const surviveRejections = (output: Writable): void => {
  let count = 0;
  process.on('unhandledRejection', (reason) => {
    if (++count <= MOST) output.write(`nothing handled a failure (${count}): ${inspect(reason)}\n`);
  });
};
