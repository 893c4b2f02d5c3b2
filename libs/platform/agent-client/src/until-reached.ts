import { boxUnavailable } from '@berth/contracts/runtime';
import { effectOf, isDomainError, type DomainError } from '@berth/kernel';
import pRetry, { type Options } from 'p-retry';

/** Bridges a short loss of a host's connection; the caller still gets its 503 within 5 s. */
const ATTEMPTS: Options = {
  retries: Infinity,
  maxRetryTime: 3_000,
  minTimeout: 250,
  factor: 1,
  shouldRetry: ({ error }) => isUnreached(error),
};

/**
 * Calls `ask` again for up to 3 s while it is certain that no handler began the request; then throws `nothingDone`. Rethrows
 * any other error of `ask` at once.
 */
export const untilReached = async <Response>(
  boxId: string,
  ask: () => Promise<Response>,
): Promise<Response> => {
  try {
    return await pRetry(ask, ATTEMPTS);
  } catch (error) {
    if (!isUnreached(error)) throw error;
    throw nothingDone(boxId, 'cannot be reached. Try again in a moment.', error);
  }
};

/** Whether no handler began the request because none was reachable. */
const isUnreached = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && error.code === 'service_unavailable' && effectOf(error) === 'none';

/** The error of a request that did nothing with an agent or a computer, see `boxUnavailable`. */
export const nothingDone = (boxId: string, what: string, cause: unknown): DomainError =>
  boxUnavailable(boxId, what, { cause, effect: 'none' });
