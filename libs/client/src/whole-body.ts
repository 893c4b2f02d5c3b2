import { ServiceConnectionError } from './errors.js';

/** The error of an answer that ended before all of its bytes had come; undefined if they had. */
export const shortBy = (response: Response, received: number): ServiceConnectionError | undefined => {
  const expected = response.headers.get('content-length');
  const isPlain = !response.headers.has('content-encoding') && response.body !== null;
  if (!isPlain || expected === null || Number(expected) === received) return undefined;
  return new ServiceConnectionError(
    `The answer ended after ${received} of ${expected} bytes.`,
    'connection_failed',
  );
};
