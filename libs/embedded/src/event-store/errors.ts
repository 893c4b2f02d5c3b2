import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { MAX_APPEND_BYTES } from './log-event.js';

/** Berth's services recognise the refusal by this text. */
const OUT_OF_SPACE = 'The disk of the event store is full.';

/** A gRPC status that ends a call. The client distinguishes errors by the `exception` in the metadata. */
export type CallError = StatusObject;

/** An invalid argument. */
export function invalidArgument(details: string): CallError {
  return callError(status.INVALID_ARGUMENT, details);
}

/** A call that the embedded event store does not implement. */
export function unsupported(what: string): CallError {
  return callError(status.UNIMPLEMENTED, `${what} are not supported by the embedded event store`);
}

/** Like EventStoreDB 24.6, which fails when a stream is read forwards from its end, whether it exists or not. */
export function forwardsFromEnd(): CallError {
  return callError(status.UNKNOWN, 'Unexpected ReadStreamResult: Error');
}

/**
 * Like EventStoreDB, which drops an append whose original is written but not indexed yet; the sender learns of it only
 * after the time-out.
 */
export function commitPhaseTimeout(): CallError {
  return callError(status.ABORTED, 'Operation timed out: Commit phase timeout');
}

/** Only the leader can execute the call; the client reconnects to the given end point. */
export function notLeader(host: string, port: number): CallError {
  return callError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

/** The disk has no room; nothing was written. */
export function outOfSpace(): CallError {
  return callError(status.RESOURCE_EXHAUSTED, OUT_OF_SPACE, { exception: 'out-of-space' });
}

/** The server is shutting down; the client may reconnect. */
export function shuttingDown(): CallError {
  return callError(status.UNAVAILABLE, 'The event store is shutting down.');
}

/** An internal failure; a write may or may not have happened. Does not reveal the cause. */
export function internalError(): CallError {
  return callError(status.INTERNAL, 'The event store could not do this because of an internal error.');
}

/** The stream is tombstoned. */
export function streamDeleted(streamName: string): CallError {
  return callError(status.FAILED_PRECONDITION, `Event stream '${streamName}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': streamName,
  });
}

/** The stream is not at the expected revision; both revisions are in EventStoreDB's notation. */
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

/** An event without metadata that every event needs. */
export function requiredMetadataMissing(): CallError {
  return callError(status.INVALID_ARGUMENT, 'Required Metadata Property Missing', {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
}

/** Whether `error` was created here and is safe to return to the caller. */
export function isCallError(error: unknown): error is CallError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'metadata' in error &&
    error.metadata instanceof Metadata &&
    'code' in error
  );
}

/** Converts anything thrown into the error that the caller gets. */
export function toCallError(error: unknown): CallError {
  return isCallError(error) ? error : internalError();
}

function callError(code: status, details: string, entries: Record<string, string> = {}): CallError {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, toHeaderText(value));
  return { code, details, metadata };
}

/* Header values are ASCII; stream names may not be. */
function toHeaderText(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]+/g, (run) => encodeURIComponent(run));
}
