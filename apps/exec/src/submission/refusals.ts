import { DomainError } from '@berth/kernel';

/** The agent is still starting; the command certainly did not start. The response is part of the API, literally. */
export const vmNotReady = (cause?: unknown): DomainError =>
  new DomainError(
    'conflict',
    'vm_not_ready',
    'The agent is starting; try again when it runs.',
    { state: 'starting', execution_started: false },
    { cause, effect: 'none' },
  );

/** The command could not be dispatched and certainly did not start. The response is part of the API, literally. */
export const guestCommandUnavailable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_command_unavailable',
    'The agent cannot take commands now; try again when it runs.',
    { execution_started: false },
    { cause, effect: 'none' },
  );

export const detachedUnsupported = (): DomainError =>
  new DomainError(
    'unsupported',
    'detached_unsupported',
    'The agent is too old for detached commands; use a new agent.',
  );

/** The command may have started. `executionId` is null for older guests, which know no ids. */
export const outcomeUnknown = (executionId: string | null, cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'execution_outcome_unknown',
    'The command may have been started. Read the execution later to learn its outcome; do not send it again blindly.',
    executionId === null ? {} : { executionId },
    { cause, effect: 'unknown' },
  );

export const executionNotFound = (): DomainError =>
  new DomainError('not_found', 'execution_not_found', 'Execution not found');

/** The agent cannot be queried now; says nothing about its executions. */
export const agentUnreachable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent cannot be reached; try again.',
    {},
    { cause },
  );

/** This process is stopping; another one knows the outcome. */
export const retryElsewhere = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
