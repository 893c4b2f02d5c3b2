import { DomainError, isDomainError } from '@berth/kernel';
import { neverReached } from '@berth/messaging';

/** Error kinds that a host or guest returns only before it has changed anything. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'forbidden', 'not_found', 'conflict', 'too_large']);
/** Errors that a second attempt gets when the first one succeeded after all. */
const TRACES_OF_OURSELVES: ReadonlySet<string> = new Set([
  'source_not_found',
  'destination_exists',
  'path_not_found',
]);

const MAY_HAVE_BEEN_DONE =
  'The response of the agent was lost: the change may have been made. Check before you try again.';

/** The change may or may not have been made; context `mayHaveBeenDone`. */
export const outcomeUnknown = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    MAY_HAVE_BEEN_DONE,
    { mayHaveBeenDone: true },
    { cause },
  );

/** Whether the error leaves open if anything was changed. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  !isDomainError(error) || error.context['mayHaveBeenDone'] === true;

/**
 * Maps a host's error for a file change: returns errors that guarantee nothing was changed, and `outcomeUnknown`
 * otherwise.
 */
export const failureOfChange = (error: unknown): unknown => {
  if (neverReached(error)) return error;
  if (isDomainError(error) && (REFUSALS.has(error.kind) || error.code === 'volume_full')) return error;
  return outcomeUnknown(error);
};

/** Maps the error of a second attempt when the outcome of the first attempt is unknown. */
export const failureOfRepetition = (error: unknown): unknown =>
  isDomainError(error) && TRACES_OF_OURSELVES.has(error.code) ? outcomeUnknown(error) : error;
