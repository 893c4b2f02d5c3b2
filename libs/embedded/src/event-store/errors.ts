import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { MAX_APPEND_BYTES } from './log-event.js';

/** A gRPC status to end a call with; the client tells errors apart by the `exception` in the metadata. */
export type CallError = StatusObject;

/** An argument that makes no sense. */
export function invalidArgument(details: string): CallError {
  return callError(status.INVALID_ARGUMENT, details);
}

/** A call that the embedded event store does not have. */
export function unsupported(what: string): CallError {
  return callError(status.UNIMPLEMENTED, `${what} are not supported by the embedded event store`);
}

/** EventStoreDB 24.6 fails on a stream that is read forwards from its end, whether it exists or not. */
export function forwardsFromEnd(): CallError {
  return callError(status.UNKNOWN, 'Unexpected ReadStreamResult: Error');
}

/** EventStoreDB drops an append whose original it has written and not indexed yet; its sender hears this late. */
export function commitPhaseTimeout(): CallError {
  return callError(status.ABORTED, 'Operation timed out: Commit phase timeout');
}

/** Only the leader does what the call asks for; the client goes to the end point given. */
export function notLeader(host: string, port: number): CallError {
  return callError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

/** The server is going down; the client may reconnect. */
export function shuttingDown(): CallError {
  return callError(status.UNAVAILABLE, 'The event store is shutting down.');
}

/** Something broke here; it is not known whether a write happened. Says nothing about what broke. */
export function internalError(): CallError {
  return callError(status.INTERNAL, 'The event store could not do this because of an internal error.');
}

/** The stream was tombstoned. */
export function streamDeleted(streamName: string): CallError {
  return callError(status.FAILED_PRECONDITION, `Event stream '${streamName}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': streamName,
  });
}

/** The stream is not at the revision the caller expects; both as EventStoreDB's numbers. */
export function wrongExpectedRevision(streamName: string, expected: string, actual: string): CallError {
  const details = `Append failed due to WrongExpectedVersion. Stream: ${streamName}, Expected version: ${expected}, Actual version: ${actual}`;
  return callError(status.FAILED_PRECONDITION, details, {
    exception: 'wrong-expected-version',
    'stream-name': streamName,
    'expected-version': expected,
    'actual-version': actual,
  });
}

/** More than {@link MAX_APPEND_BYTES} in one append. */
export function maximumAppendSizeExceeded(): CallError {
  return callError(status.INVALID_ARGUMENT, `Maximum Append Size of ${MAX_APPEND_BYTES} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(MAX_APPEND_BYTES),
  });
}

/** An event without the metadata every event needs. */
export function requiredMetadataMissing(): CallError {
  return callError(status.INVALID_ARGUMENT, 'Required Metadata Property Missing', {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
}

/** Whether `error` was made here and may go to the caller as it is. */
export function isCallError(error: unknown): error is CallError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'metadata' in error &&
    error.metadata instanceof Metadata &&
    'code' in error
  );
}

/** What the caller gets for whatever was thrown. */
export function toCallError(error: unknown): CallError {
  return isCallError(error) ? error : internalError();
}

function callError(code: status, details: string, entries: Record<string, string> = {}): CallError {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, toHeaderText(value));
  return { code, details, metadata };
}

/* Header values are ASCII; stream names need not be. */
function toHeaderText(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]+/g, (run) => encodeURIComponent(run));
}
