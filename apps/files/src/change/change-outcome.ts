import { DomainError, isDomainError } from '@berth/kernel';
import { neverReached } from '@berth/messaging';

/** Kinds of refusals that a host or guest gives before it has done anything. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'forbidden', 'not_found', 'conflict', 'too_large']);
/** What a second attempt meets when the first one was done after all. */
const TRACES_OF_OURSELVES: ReadonlySet<string> = new Set([
  'source_not_found',
  'destination_exists',
  'path_not_found',
]);

const MAY_HAVE_BEEN_DONE =
  'The answer of the agent was lost: it may have been done. Look before you try again.';

/** It may have been done or not; context `mayHaveBeenDone`. */
export const outcomeUnknown = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    MAY_HAVE_BEEN_DONE,
    { mayHaveBeenDone: true },
    { cause },
  );

/** Whether it is open if anything was done. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  !isDomainError(error) || error.context['mayHaveBeenDone'] === true;

/** What a host's failure to change a file says: what was certainly not done goes through, else the outcome is unknown. */
export const failureOfChange = (error: unknown): unknown => {
  if (neverReached(error)) return error;
  if (isDomainError(error) && (REFUSALS.has(error.kind) || error.code === 'volume_full')) return error;
  return outcomeUnknown(error);
};

/** A refusal of a second attempt, where nobody knows what became of the first. */
export const failureOfRepetition = (error: unknown): unknown =>
  isDomainError(error) && TRACES_OF_OURSELVES.has(error.code) ? outcomeUnknown(error) : error;
