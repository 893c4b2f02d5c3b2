import { DomainError, effectOf, isDomainError } from '@berth/kernel';

/** Errors that a second attempt gets when the first one succeeded after all. */
const TRACES_OF_OURSELVES: ReadonlySet<string> = new Set([
  'source_not_found',
  'destination_exists',
  'path_not_found',
]);

const MAY_HAVE_BEEN_DONE =
  'The response of the agent was lost: the change may have been made. Check before you try again.';

/** The change may or may not have been made. */
export const outcomeUnknown = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', MAY_HAVE_BEEN_DONE, {}, { cause, effect: 'unknown' });

/** Whether the error leaves open if anything was changed. */
export const isOutcomeUnknown = (error: unknown): boolean => effectOf(error) === 'unknown';

/**
 * Maps a host's error for a file change: returns errors that guarantee nothing was changed, and `outcomeUnknown`
 * otherwise.
 */
export const failureOfChange = (error: unknown): unknown =>
  isOutcomeUnknown(error) ? outcomeUnknown(error) : error;

/** Maps the error of a second attempt when the outcome of the first attempt is unknown. */
export const failureOfRepetition = (error: unknown): unknown =>
  isDomainError(error) && TRACES_OF_OURSELVES.has(error.code) ? outcomeUnknown(error) : error;
