import { DomainError } from '@berth/kernel';

// All of these are said before anything was started.

export const invalidCwd = (): DomainError =>
  new DomainError('invalid', 'invalid_cwd', 'cwd must be a folder that the agent may enter.');

/** The kernel takes only so much for a program and its environment together. */
export const commandTooLarge = (): DomainError =>
  new DomainError('invalid', 'invalid_command', 'The command and its environment are too large together.');

export const commandUnavailable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_command_unavailable',
    'The agent cannot run commands just now.',
    {},
    { cause },
  );

export const executionUnknown = (): DomainError =>
  new DomainError('not_found', 'execution_unknown', 'This guest knows no such execution.');
