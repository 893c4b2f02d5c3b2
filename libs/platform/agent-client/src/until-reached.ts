import { boxOwner } from '@berth/contracts/runtime';
import { DomainError, effectOf, isDomainError } from '@berth/kernel';
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
 * Calls `ask` again for up to 3 s while it is certain that no handler began the request; then throws `boxUnavailable` of
 * `boxId`. Rethrows any other error of `ask` at once.
 */
export const untilReached = async <Response>(
  boxId: string,
  ask: () => Promise<Response>,
): Promise<Response> => {
  try {
    return await pRetry(ask, ATTEMPTS);
  } catch (error) {
    if (!isUnreached(error)) throw error;
    throw boxUnavailable(boxId, 'cannot be reached. Try again in a moment.', error);
  }
};

/** Whether no handler began the request because none was reachable. */
const isUnreached = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && error.code === 'service_unavailable' && effectOf(error) === 'none';

/**
 * The error of a request that did nothing with an agent or a computer: unavailable `agent_unavailable` or
 * `computer_unavailable`.
 *
 * @param what what happened to it, for its owner: the rest of a sentence
 */
export const boxUnavailable = (boxId: string, what: string, cause: unknown): DomainError =>
  boxOwner(boxId) === 'computers'
    ? new DomainError(
        'unavailable',
        'computer_unavailable',
        `The computer ${what}`,
        {},
        { cause, effect: 'none' },
      )
    : new DomainError('unavailable', 'agent_unavailable', `The agent ${what}`, {}, { cause, effect: 'none' });
