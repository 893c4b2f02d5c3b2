import { DomainError } from '@berth/kernel';

/** The agent still starts; the command certainly did not. Printed to the letter (interface §7). */
export const vmNotReady = (cause?: unknown): DomainError =>
  new DomainError(
    'conflict',
    'vm_not_ready',
    'The agent is starting; try again when it runs.',
    { state: 'starting', execution_started: false },
    { cause },
  );

/** Nobody could be given the command, so that it certainly did not start. Printed to the letter (interface §7). */
export const guestCommandUnavailable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_command_unavailable',
    'The agent cannot take commands now; try again when it runs.',
    { execution_started: false },
    { cause },
  );

export const detachedUnsupported = (): DomainError =>
  new DomainError(
    'unsupported',
    'detached_unsupported',
    'The agent is too old for detached commands; use a new agent.',
  );

/** The command may or may not have been started. Older guests have no id to ask by. */
export const outcomeUnknown = (executionId: string | null, cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'execution_outcome_unknown',
    'The command may have been started. Read the execution later to learn its outcome; do not send it again blindly.',
    executionId === null ? {} : { executionId },
    { cause },
  );

export const executionNotFound = (): DomainError =>
  new DomainError('not_found', 'execution_not_found', 'Execution not found');

/** The agent cannot be asked now; nothing is said about its executions. */
export const agentUnreachable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent cannot be reached; try again.',
    {},
    { cause },
  );

/** This process ends; what the command comes to is told by another one. */
export const answerElsewhere = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
