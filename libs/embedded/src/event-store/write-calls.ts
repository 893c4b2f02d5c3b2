import { setTimeout as delay } from 'node:timers/promises';
import {
  Metadata,
  type handleClientStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import {
  type Expectation,
  formatRevision,
  setPosition,
  toExpectation,
  toProposedEvent,
  toStreamName,
} from './codec.js';
import {
  commitPhaseTimeout,
  invalidArgument,
  maximumAppendSizeExceeded,
  streamDeleted,
  toCallError,
  type CallError,
  wrongExpectedRevision,
} from './errors.js';
import type { GroupCommit } from './group-commit.js';
import {
  ANY,
  eventSize,
  MAX_APPEND_BYTES,
  NO_STREAM,
  type ProposedEvent,
  STREAM_EXISTS,
} from './log-event.js';
import type { WriteOutcome } from './log-writer.js';
import { shared, streams } from './protocol.js';

type AppendHandler = handleClientStreamingCall<streams.AppendReq, streams.AppendResp>;
type DeleteHandler = handleUnaryCall<streams.DeleteReq, streams.DeleteResp>;
type TombstoneHandler = handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp>;

/* EventStoreDB's default commit timeout. */
const COMMIT_TIMEOUT_MS = 2_000;

/** The error for an append that was dropped as a duplicate, after the delay that EventStoreDB has. */
export async function afterCommitTimeout(): Promise<CallError> {
  await delay(COMMIT_TIMEOUT_MS, undefined, { ref: false });
  return commitPhaseTimeout();
}

/** The unary append: options first, then one message per event; written when the caller ends the stream. */
export function appendCall(writes: GroupCommit): AppendHandler {
  return (call, callback) => {
    const append = new ReceivedAppend();
    let failed = false;
    const fail = (error: unknown): void => {
      if (failed) return;
      failed = true;
      callback(toCallError(error));
    };
    call.on('data', (message: streams.AppendReq) => {
      if (failed) return;
      try {
        append.take(message);
      } catch (error) {
        fail(error);
      }
    });
    call.on('end', () => {
      // A call that is reset before its last event ends like a complete one, and the reset may be reported only later.
      // Sending the headers makes the server check the HTTP/2 stream, which already knows about the reset.
      setImmediate(() => {
        if (failed) return;
        call.sendMetadata(new Metadata());
        if (call.cancelled) return;
        append.write(writes).then((response) => callback(null, response), fail);
      });
    });
  };
}

class ReceivedAppend {
  #target: { readonly stream: string; readonly expectation: Expectation } | undefined;
  readonly #events: ProposedEvent[] = [];
  #bytes = 0;

  take(message: streams.AppendReq): void {
    const options = message.getOptions();
    if (options !== undefined) {
      const stream = toStreamName(options.getStreamIdentifier());
      this.#target = { stream, expectation: toExpectation(options, options.getRevision()) };
      return;
    }
    const proposed = message.getProposedMessage();
    if (proposed === undefined || this.#target === undefined) {
      throw invalidArgument('An append must start with its options, followed by its events.');
    }
    const event = toProposedEvent(proposed);
    this.#bytes += eventSize(event);
    if (this.#bytes > MAX_APPEND_BYTES) throw maximumAppendSizeExceeded();
    this.#events.push(event);
  }

  async write(writes: GroupCommit): Promise<streams.AppendResp> {
    if (this.#target === undefined) throw invalidArgument('An append must start with its options.');
    const { stream, expectation } = this.#target;
    const expected = expectation.revision;
    const outcome = await writes.submit({ kind: 'append', stream, expected, events: this.#events });
    if (outcome.kind === 'stream-deleted') throw streamDeleted(stream);
    if (outcome.kind === 'dropped') throw await afterCommitTimeout();
    const response = new streams.AppendResp();
    if (outcome.kind === 'written') return response.setSuccess(toSuccess(outcome));
    return response.setWrongExpectedVersion(toWrongExpectedVersion(outcome.current, expectation));
  }
}

/** Soft delete: hides all existing events; the stream can be written to again. */
export function deleteCall(writes: GroupCommit): DeleteHandler {
  return (call, callback) => {
    const options = call.request.getOptions();
    respondToDeletion('soft-delete', writes, options, callback, (position) =>
      new streams.DeleteResp().setPosition(setPosition(new streams.DeleteResp.Position(), position)),
    );
  };
}

/** Tombstone: closes the stream permanently. */
export function tombstoneCall(writes: GroupCommit): TombstoneHandler {
  return (call, callback) => {
    const options = call.request.getOptions();
    respondToDeletion('tombstone', writes, options, callback, (position) =>
      new streams.TombstoneResp().setPosition(setPosition(new streams.TombstoneResp.Position(), position)),
    );
  };
}

function respondToDeletion<Response>(
  kind: 'soft-delete' | 'tombstone',
  writes: GroupCommit,
  options: streams.DeleteReq.Options | streams.TombstoneReq.Options | undefined,
  callback: sendUnaryData<Response>,
  toResponse: (position: number) => Response,
): void {
  const remove = async (): Promise<Response> => {
    if (options === undefined) throw invalidArgument('A delete needs its options.');
    const stream = toStreamName(options.getStreamIdentifier());
    const expectation = toExpectation(options, options.getRevision());
    const outcome = await writes.submit({ kind, stream, expected: expectation.revision });
    if (outcome.kind === 'stream-deleted') throw streamDeleted(stream);
    if (outcome.kind === 'dropped') throw await afterCommitTimeout();
    if (outcome.kind === 'wrong-expected-revision') {
      throw wrongExpectedRevision(stream, expectation.text, formatRevision(outcome.current));
    }
    return toResponse(outcome.position ?? 0);
  };
  remove().then(
    (response) => callback(null, response),
    (error: unknown) => callback(toCallError(error)),
  );
}

function toSuccess(outcome: Extract<WriteOutcome, { kind: 'written' }>): streams.AppendResp.Success {
  const success = new streams.AppendResp.Success();
  if (outcome.revision < 0) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(formatRevision(outcome.revision));
  if (outcome.position === undefined) return success.setNoPosition(new shared.Empty());
  return success.setPosition(setPosition(new streams.AppendResp.Position(), outcome.position));
}

function toWrongExpectedVersion(
  current: number,
  { revision, text }: Expectation,
): streams.AppendResp.WrongExpectedVersion {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision(formatRevision(current));
  if (revision === NO_STREAM) return message.setExpectedNoStream(new shared.Empty());
  if (revision === ANY) return message.setExpectedAny(new shared.Empty());
  if (revision === STREAM_EXISTS) return message.setExpectedStreamExists(new shared.Empty());
  return message.setExpectedRevision(text);
}
