import { HOST_FULL, HOST_UNAVAILABLE } from '@berth/contracts/runtime';
import { DomainError, isDomainError } from '@berth/kernel';
import { DriverError, type DriverErrorCode } from '../driver/driver-error.js';

const NOT_DONE = { effect: 'none' } as const;

/** The request names an epoch of the agent that is not the current one; nothing was done. */
export const staleEpoch = (epoch: number, state: string): DomainError =>
  new DomainError(
    'conflict',
    'stale_epoch',
    "The agent's epoch has changed since this was decided.",
    { epoch, state },
    NOT_DONE,
  );

export const agentNotOnHost = (): DomainError =>
  new DomainError('not_found', 'agent_not_on_host', 'This host does not have the agent.', {}, NOT_DONE);

export const agentNotFrozen = (): DomainError =>
  new DomainError('conflict', 'agent_not_frozen', 'The agent is not frozen on this host.');

/** `message` is shown to the agent's owner. */
export const agentStartFailed = (
  message: string,
  cause?: unknown,
  code = 'agent_start_failed',
): DomainError => new DomainError('upstream', code, message, {}, { cause });

const START_FAILED = 'The agent could not be started on its host.';

/** The message for the agent's owner when its box cannot be started; null: the generic one. */
const START_FAILURES: {
  readonly [Code in Exclude<DriverErrorCode, 'host_unavailable'>]: ((error: DriverError) => string) | null;
} = {
  spec_unsupported: ({ message }) => message,
  host_exhausted: () => 'The host of the agent has no room for it.',
  box_stuck: () => 'Earlier processes of the agent could not be ended.',
  image_unavailable: ({ message }) => message,
  runtime_class_unavailable: ({ message }) => message,
  host_unsuitable: null,
  guest_not_started: null,
  box_absent: null,
};

/** Failures that the agent's owner, or the operator, can mend have a code of their own. */
const START_FAILURE_CODES: ReadonlySet<DriverErrorCode> = new Set([
  'image_unavailable',
  'runtime_class_unavailable',
]);

/** The error that a failed start ends with. `error` becomes its cause, for the operator's log only. */
export const startFailure = (error: unknown): DomainError => {
  if (isDomainError(error, 'upstream')) return error;
  if (!(error instanceof DriverError)) return agentStartFailed(START_FAILED, error);
  const { code } = error;
  if (code === 'host_unavailable')
    return new DomainError('unavailable', HOST_UNAVAILABLE, START_FAILED, {}, { cause: error, ...NOT_DONE });
  const message = START_FAILURES[code]?.(error) ?? START_FAILED;
  return agentStartFailed(message, error, START_FAILURE_CODES.has(code) ? code : undefined);
};

/** Shown to the agent's owner. */
export const hostFull = (): DomainError =>
  new DomainError('unavailable', HOST_FULL, "The disk of the agent's host is full.", {}, NOT_DONE);

/** The host can start no agent at present. */
export const hostUnavailable = (): DomainError =>
  new DomainError(
    'unavailable',
    'service_unavailable',
    'The machine can start no agent at present; try again shortly.',
    {},
    NOT_DONE,
  );

/** The message was abandoned before it was handed to the agent's program. */
export const messageNotHandedOver = (cause: DomainError): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The message was not handed to the agent in time; send it again.',
    {},
    { cause, ...NOT_DONE },
  );
