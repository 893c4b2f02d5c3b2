import { isDomainError, type DomainError } from '@berth/kernel';
import { neverReached } from '@berth/messaging';

/** What is known about a command's start. Only `notStarted` permits `execution_started: false`. */
export type Start = 'notStarted' | 'maybeStarted' | 'started';

/**
 * What one failed request proves: the agent is not awake there, the guest rejected the command, no handler received it,
 * or nothing (it may have started).
 */
export type SendingFailure = 'elsewhere' | 'refused' | 'unreached' | 'unknown';

const ELSEWHERE: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host']);
const REFUSED: ReadonlySet<string> = new Set(['invalid_cwd', 'invalid_command', 'guest_command_unavailable']);

/** After any error that is not listed the command may have started. */
export const judgeFailure = (error: unknown): SendingFailure => {
  if (neverReached(error)) return isTooLarge(error) ? 'refused' : 'unreached';
  if (!isDomainError(error)) return 'unknown';
  if (ELSEWHERE.has(error.code)) return 'elsewhere';
  return REFUSED.has(error.code) ? 'refused' : 'unknown';
};

/** Combines a further failure with what was known: an earlier attempt that may have started the command still may. */
export const afterFailure = (start: Start, failure: SendingFailure): Start =>
  start === 'notStarted' && failure === 'unknown' ? 'maybeStarted' : start;

/** Whether the command itself is at fault; the caller then gets the error unchanged. */
export const isCallersFault = (error: unknown): error is DomainError =>
  isDomainError(error, 'invalid') || isTooLarge(error);

const isTooLarge = (error: unknown): boolean => isDomainError(error, 'too_large');
