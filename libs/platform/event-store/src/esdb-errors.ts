import {
  AccessDeniedError,
  InvalidArgumentError,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { DomainError, isDomainError, isStorageFull, storageFull } from '@berth/kernel';
import { PositionBeyondLog, RevisionConflict } from './event-store.js';

/** gRPC status codes of permanent failures. */
const REFUSALS = new Set([
  3 /* INVALID_ARGUMENT */, 7 /* PERMISSION_DENIED */, 8 /* RESOURCE_EXHAUSTED */, 12,
]);

/** The error that a caller gets while the log is unavailable. */
export const logUnavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'Try again shortly.', {}, { cause });

/** Whether the call may be repeated: the server was down, gave up, or did not respond. */
export const isTransient = (error: unknown): boolean => {
  if (isDomainError(error)) return error.kind === 'unavailable' && !isStorageFull(error);
  if (!(error instanceof Error)) return false;
  if (error instanceof RevisionConflict || error instanceof PositionBeyondLog) return false;
  // Failed discovery and broken channels are plain errors.
  if (!isCommandError(error)) return !(error instanceof TypeError);
  if (error instanceof UnknownError) return error.code === undefined || !REFUSALS.has(error.code);
  return !(
    error instanceof WrongExpectedVersionError ||
    error instanceof StreamDeletedError ||
    error instanceof StreamNotFoundError ||
    error instanceof AccessDeniedError ||
    error instanceof InvalidArgumentError ||
    error instanceof MaxAppendSizeExceededError
  );
};

/** Whether our own event store refused an append, without writing anything, because its disk is full. */
export const isOutOfSpace = (error: unknown): boolean =>
  error instanceof UnknownError &&
  error.code === 8 &&
  error.message.includes('disk of the event store is full');

/** Whether the log has no record that starts at the requested position. */
export const isInvalidPosition = (error: unknown): boolean =>
  error instanceof UnknownError && error.code === 3 && error.message.includes('invalid position');

/** Converts an error of the client into one that the port may throw. */
export const mapLogError = (error: unknown): unknown => {
  if (isDomainError(error)) return error;
  if (error instanceof MaxAppendSizeExceededError) {
    return new DomainError('too_large', 'event_too_large', 'Send less at once.', {}, { cause: error });
  }
  if (isOutOfSpace(error)) return storageFull({ cause: error });
  return isTransient(error) ? logUnavailable(error) : error;
};
