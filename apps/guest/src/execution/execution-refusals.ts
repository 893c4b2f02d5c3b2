import { DomainError } from '@berth/kernel';

// All of these errors are raised before anything is started.
const NOT_STARTED = { effect: 'none' } as const;

export const invalidCwd = (): DomainError =>
  new DomainError(
    'invalid',
    'invalid_cwd',
    'cwd must be a folder that the agent may enter.',
    {},
    NOT_STARTED,
  );

/** The kernel limits the combined size of a program's arguments and environment. */
export const commandTooLarge = (): DomainError =>
  new DomainError(
    'invalid',
    'invalid_command',
    'The command and its environment are too large together.',
    {},
    NOT_STARTED,
  );

export const commandUnavailable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_command_unavailable',
    'The agent cannot run commands at the moment.',
    {},
    { cause, ...NOT_STARTED },
  );

export const executionUnknown = (): DomainError =>
  new DomainError('not_found', 'execution_unknown', 'This guest has no such execution.');
