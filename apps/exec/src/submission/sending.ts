import { isDomainError, type DomainError } from '@berth/kernel';
import { neverReached } from '@berth/messaging';

/** What is known of a command's start. `execution_started: false` is said in the first state only. */
export type Start = 'notStarted' | 'maybeStarted' | 'started';

/**
 * What a failed sending says by itself: the agent is not awake there, the guest refused the command, nobody got it, or
 * it is not known whether it was started.
 */
export type SendingFailure = 'elsewhere' | 'refused' | 'unreached' | 'unknown';

const ELSEWHERE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);
const REFUSED: ReadonlySet<string> = new Set(['invalid_cwd', 'invalid_command', 'guest_command_unavailable']);

/** Whatever is not listed may have been started. */
export const judgeFailure = (error: unknown): SendingFailure => {
  if (neverReached(error)) return isTooLarge(error) ? 'refused' : 'unreached';
  if (!isDomainError(error)) return 'unknown';
  if (ELSEWHERE.has(error.code)) return 'elsewhere';
  return REFUSED.has(error.code) ? 'refused' : 'unknown';
};

/** One sending more: nothing takes back that an earlier one may have started the command. */
export const afterFailure = (start: Start, failure: SendingFailure): Start =>
  start === 'notStarted' && failure === 'unknown' ? 'maybeStarted' : start;

/** Refusals that the caller is told as they are, because the command itself is at fault. */
export const isCallersFault = (error: unknown): error is DomainError =>
  isDomainError(error, 'invalid') || isTooLarge(error);

const isTooLarge = (error: unknown): boolean => isDomainError(error, 'too_large');
