import { DomainError, isDomainError } from '@berth/kernel';
import type { ErrorCode } from '../errors/error-codes.js';

/** Error codes of the routes that use a computer, which wakes it. */
const USE_ERRORS: readonly ErrorCode[] = [
  'computer_not_found',
  'addon_required',
  'end_user_suspended',
  'computer_starting',
  'computer_failed',
  'computer_unavailable',
  'no_capacity',
];

/** Returns the error codes of a route that uses a computer: the shared ones and `own`. */
export const useErrors = (own: readonly ErrorCode[] = []): readonly ErrorCode[] => [...USE_ERRORS, ...own];

/** Returns the error codes of a route for files of a computer: those of `useErrors`, of all file routes, and `own`. */
export const fileErrors = (own: readonly ErrorCode[]): readonly ErrorCode[] =>
  useErrors(['invalid_path', 'path_outside_volume', 'too_many_transfers', ...own]);

/** Awaits what is done with a host; its errors are about computers instead of agents. */
export const aboutComputer = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    throw isDomainError(error) && error.code === 'agent_unavailable' ? computerUnavailable(error) : error;
  }
};

const computerUnavailable = (cause: DomainError): DomainError =>
  new DomainError(
    'unavailable',
    'computer_unavailable',
    'The computer cannot be reached right now. Try again in a moment.',
    {},
    { cause, ...(cause.effect === undefined ? {} : { effect: cause.effect }) },
  );
