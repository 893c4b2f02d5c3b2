import { DomainError } from '@berth/kernel';

/** The command was certainly not started. */
export const commandUnavailable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_command_unavailable',
    'The agent does not take commands right now.',
    {},
    { cause, effect: 'none' },
  );

/** The command may or may not have been started. */
export const outcomeUnknown = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'execution_outcome_unknown',
    'Whether the command was started is unknown.',
    {},
    { cause, effect: 'unknown' },
  );

export const executionUnknown = (): DomainError =>
  new DomainError('not_found', 'execution_unknown', 'The agent has no such execution.');
