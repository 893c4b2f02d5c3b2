import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import {
  type Expectation,
  formatRevision,
  setPosition,
  toExpectation,
  toProposedEvent,
  toStreamName,
} from './codec.js';
import { internalError, invalidArgument, isCallError, toCallError } from './errors.js';
import type { GroupCommit } from './group-commit.js';
import {
  ANY,
  eventSize,
  MAX_APPEND_BYTES,
  NO_STREAM,
  type ProposedEvent,
  STREAM_EXISTS,
} from './log-event.js';
import { afterCommitTimeout } from './write-calls.js';
import type { WriteOutcome } from './log-writer.js';
import { any, empty, rpcCode, rpcStatus, shared, streams } from './protocol.js';

type Request = streams.BatchAppendReq;
type Response = streams.BatchAppendResp;
type Refusal = {
  readonly code: rpcCode.Code;
  readonly message: string;
  readonly type: string;
  readonly details: Details;
};
interface Details {
  serializeBinary(): Uint8Array;
}

interface Batch {
  readonly options: streams.BatchAppendReq.Options;
  readonly expectation: Expectation;
  readonly events: ProposedEvent[];
  bytes: number;
  /** Why this append cannot be accepted; the others of the call are not affected. */
  malformed: string | undefined;
}

/** Many appends over one stream; each is identified by its correlation id and gets its own response, in any order. */
export function batchAppendCall(writes: GroupCommit): handleBidiStreamingCall<Request, Response> {
  return (call) => {
    const batches = new Map<string, Batch>();
    const open = new OpenResponses(call);
    call.on('data', (message: Request) => {
      try {
        const finished = takeMessage(batches, message);
        if (finished !== undefined) open.add(respond(writes, message, finished));
      } catch (error) {
        open.fail(error);
      }
    });
    call.on('end', () => open.end());
  };
}

/* The caller may end its side while responses are still outstanding. */
class OpenResponses {
  #due = 0;
  #ended = false;

  constructor(private readonly call: ServerDuplexStream<Request, Response>) {}

  add(response: Promise<Response>): void {
    this.#due += 1;
    response
      .then(
        (message) => void (this.call.cancelled || this.call.write(message)),
        (error: unknown) => this.fail(error),
      )
      .finally(() => {
        this.#due -= 1;
        if (this.#ended) this.end();
      });
  }

  end(): void {
    this.#ended = true;
    if (this.#due === 0) this.call.end();
  }

  fail(error: unknown): void {
    this.call.emit('error', toCallError(error));
  }
}

function takeMessage(batches: Map<string, Batch>, message: Request): Batch | undefined {
  const key = correlationKey(message);
  const batch = batches.get(key) ?? startBatch(message.getOptions());
  takeEvents(batch, message.getProposedMessagesList());
  if (message.getIsFinal()) {
    batches.delete(key);
    return batch;
  }
  batches.set(key, batch);
  return undefined;
}

function takeEvents(batch: Batch, messages: readonly streams.BatchAppendReq.ProposedMessage[]): void {
  try {
    for (const message of messages) {
      const event = toProposedEvent(message);
      batch.bytes += eventSize(event);
      // Above the limit only the size counts; the events of a refused append need not be kept.
      if (batch.bytes > MAX_APPEND_BYTES) batch.events.length = 0;
      else batch.events.push(event);
    }
  } catch (error) {
    batch.malformed ??= toCallError(error).details;
  }
}

function correlationKey(message: Request): string {
  const id = message.getCorrelationId();
  if (id === undefined) throw invalidArgument('An append of a batch needs a correlation id.');
  return Buffer.from(id.serializeBinary()).toString('latin1');
}

function startBatch(options: streams.BatchAppendReq.Options | undefined): Batch {
  if (options === undefined) throw invalidArgument('An append of a batch starts with its options.');
  const expectation = toExpectation(options, options.getStreamPosition());
  return { options, expectation, events: [], bytes: 0, malformed: undefined };
}

async function respond(writes: GroupCommit, message: Request, batch: Batch): Promise<Response> {
  const response = new streams.BatchAppendResp().setCorrelationId(message.getCorrelationId());
  const { options } = batch;
  response.setStreamIdentifier(options.getStreamIdentifier());
  if (options.hasNoStream()) response.setNoStream(new empty.Empty());
  else if (options.hasAny()) response.setAny(new empty.Empty());
  else if (options.hasStreamExists()) response.setStreamExists(new empty.Empty());
  else response.setStreamPosition(options.getStreamPosition());

  try {
    const stream = toStreamName(options.getStreamIdentifier());
    const refusal = refuseUnread(batch);
    if (refusal !== undefined) return response.setError(toStatus(refusal));
    const { events, expectation } = batch;
    const outcome = await writes.submit({ kind: 'append', stream, expected: expectation.revision, events });
    if (outcome.kind === 'written') return response.setSuccess(toSuccess(outcome));
    if (outcome.kind === 'dropped') {
      await afterCommitTimeout();
      return response.setError(toStatus(timedOut()));
    }
    return response.setError(toStatus(toRefusal(batch, stream, outcome)));
  } catch (error) {
    if (isCallError(error)) return response.setError(toStatus(badRequest(error.details)));
    const message = internalError().details;
    const details = new shared.Unknown();
    return response.setError(toStatus({ code: rpcCode.Code.INTERNAL, message, type: 'Unknown', details }));
  }
}

function refuseUnread({ bytes, options, malformed }: Batch): Refusal | undefined {
  if (malformed !== undefined) return badRequest(malformed);
  if (bytes > MAX_APPEND_BYTES) {
    const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_BYTES);
    const message = `Maximum Append Size of ${MAX_APPEND_BYTES} Exceeded.`;
    return { code: rpcCode.Code.INVALID_ARGUMENT, message, type: 'MaximumAppendSizeExceeded', details };
  }
  const deadline = options.getDeadline()?.toDate();
  if (deadline === undefined || deadline.getTime() > Date.now()) return undefined;
  return timedOut();
}

function timedOut(): Refusal {
  const details = new shared.Timeout();
  return { code: rpcCode.Code.DEADLINE_EXCEEDED, message: 'Operation timed out.', type: 'Timeout', details };
}

function badRequest(message: string): Refusal {
  const details = new shared.BadRequest().setMessage(message);
  return { code: rpcCode.Code.INVALID_ARGUMENT, message, type: 'BadRequest', details };
}

function toRefusal(
  batch: Batch,
  stream: string,
  outcome: Exclude<WriteOutcome, { kind: 'written' | 'dropped' }>,
): Refusal {
  const code = rpcCode.Code.FAILED_PRECONDITION;
  if (outcome.kind === 'stream-deleted') {
    const details = new shared.StreamDeleted().setStreamIdentifier(batch.options.getStreamIdentifier());
    return { code, message: `Event stream '${stream}' is deleted.`, type: 'StreamDeleted', details };
  }
  const { revision, text } = batch.expectation;
  const details = new shared.WrongExpectedVersion();
  if (outcome.current < 0) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(formatRevision(outcome.current));
  if (revision === NO_STREAM) details.setExpectedNoStream(new empty.Empty());
  else if (revision === ANY) details.setExpectedAny(new empty.Empty());
  else if (revision === STREAM_EXISTS) details.setExpectedStreamExists(new empty.Empty());
  else details.setExpectedStreamPosition(text);
  return { code, message: 'Wrong expected version.', type: 'WrongExpectedVersion', details };
}

function toStatus({ code, message, type, details }: Refusal): rpcStatus.Status {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), `event_store.client.${type}`);
  return new rpcStatus.Status().setCode(code).setMessage(message).setDetails(packed);
}

function toSuccess(outcome: Extract<WriteOutcome, { kind: 'written' }>): streams.BatchAppendResp.Success {
  const success = new streams.BatchAppendResp.Success();
  if (outcome.revision < 0) success.setNoStream(new empty.Empty());
  else success.setCurrentRevision(formatRevision(outcome.revision));
  if (outcome.position === undefined) return success.setNoPosition(new empty.Empty());
  return success.setPosition(setPosition(new shared.AllStreamPosition(), outcome.position));
}
