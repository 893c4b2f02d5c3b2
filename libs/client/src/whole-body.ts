import { ServiceConnectionError } from './errors.js';
import { isServer } from './runtime.js';

/**
 * The error of an answer that ended before all of its bytes had come; undefined if they had. Browsers check this
 * themselves, and do not say whether an answer was compressed.
 */
export const shortBy = (response: Response, received: number): ServiceConnectionError | undefined => {
  const expected = response.headers.get('content-length');
  const isPlain = isServer() && response.body !== null && !response.headers.has('content-encoding');
  if (!isPlain || expected === null || received >= Number(expected)) return undefined;
  return new ServiceConnectionError(
    `The answer ended after ${received} of ${expected} bytes.`,
    'connection_failed',
  );
};
