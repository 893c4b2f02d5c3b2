import { DomainError, effectOf, isDomainError, type ErrorKind } from '@berth/kernel';

/** Kinds that say nothing about the first attempt: it may still be in progress. */
const TRANSIENT_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unavailable', 'timeout', 'exhausted']);

/** Errors that a second attempt gets if the first one has succeeded. */
const EFFECTS_OF_FIRST_ATTEMPT: ReadonlySet<string> = new Set([
  'source_not_found',
  'destination_exists',
  'path_not_found',
]);

const MAY_HAVE_BEEN_DONE =
  'The response of the agent was lost: the change may have been made. Check before you try again.';

/** The change may or may not have been made. */
export const outcomeUnknown = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', MAY_HAVE_BEEN_DONE, {}, { cause, effect: 'unknown' });

/** Whether something may have been changed despite the error. */
export const isOutcomeUnknown = (error: unknown): boolean => effectOf(error) === 'unknown';

/**
 * Maps a host's error for a file change: returns errors that guarantee nothing was changed, and `outcomeUnknown`
 * otherwise.
 */
export const failureOfChange = (error: unknown): unknown =>
  isOutcomeUnknown(error) ? outcomeUnknown(error) : error;

/** Maps the error of a second attempt when the outcome of the first attempt is unknown. */
export const failureOfRepetition = (error: unknown): unknown =>
  isDomainError(error) && (TRANSIENT_KINDS.has(error.kind) || EFFECTS_OF_FIRST_ATTEMPT.has(error.code))
    ? outcomeUnknown(error)
    : error;
