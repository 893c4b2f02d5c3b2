import { invalidArgument, requiredMetadataMissing } from './errors.js';
import {
  ANY,
  type ExpectedRevision,
  NO_STREAM,
  type ProposedEvent,
  STREAM_EXISTS,
  TOMBSTONE_REVISION,
  TOMBSTONE_REVISION_ON_THE_WIRE,
} from './log-event.js';
import { shared, type streams } from './protocol.js';

type ProposedMessage = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage;

const JSON_TYPE = 'application/json';

/** Reads a stream name; throws a gRPC status if it is invalid. */
export function toStreamName(identifier: shared.StreamIdentifier | undefined): string {
  const name = Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
  if (name === '' || name === '$$' || name === '$all')
    throw invalidArgument(`'${name}' is not a valid stream name.`);
  return name;
}

/** Encodes a stream name for the protocol. */
export function toStreamIdentifier(name: string): shared.StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(name, 'utf8'));
}

/** Reads an event id (both forms of the protocol) into 16 bytes. */
export function toEventId(uuid: shared.UUID | undefined): Buffer {
  const structured = uuid?.getStructured();
  if (structured !== undefined) {
    const id = Buffer.alloc(16);
    id.writeBigUInt64BE(BigInt.asUintN(64, BigInt(structured.getMostSignificantBits())), 0);
    id.writeBigUInt64BE(BigInt.asUintN(64, BigInt(structured.getLeastSignificantBits())), 8);
    return id;
  }
  const id = Buffer.from((uuid?.getString() ?? '').replaceAll('-', ''), 'hex');
  if (id.length !== 16) throw invalidArgument('An event id must be a UUID.');
  return id;
}

/** Reads a proposed event; throws a gRPC status if its id, type or content type is missing. */
export function toProposedEvent(message: ProposedMessage): ProposedEvent {
  const map = message.getMetadataMap();
  const type = map.get('type');
  const contentType = map.get('content-type');
  if (type === undefined || type === '' || contentType === undefined) throw requiredMetadataMissing();
  return {
    id: toEventId(message.getId()),
    type,
    isJson: contentType === JSON_TYPE,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

/**
 * Reads an unsigned 64-bit number. Above 2^53 the result is rounded, but no revision or position is that high.
 */
export function toNumber(value: string): number {
  return Number(value);
}

/** Formats a revision for the protocol. */
export function formatRevision(revision: number): string {
  return revision === TOMBSTONE_REVISION ? TOMBSTONE_REVISION_ON_THE_WIRE : String(revision);
}

/** The options with which appends, deletes and tombstones specify the expected revision. */
export interface ExpectationOptions {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

/** A writer's expected revision: as a number for decisions, and as the protocol's text for responses. */
export interface Expectation {
  readonly revision: ExpectedRevision;
  readonly text: string;
}

/** Reads the expected revision; `exact` is the value of the revision field. */
export function toExpectation(options: ExpectationOptions, exact: string): Expectation {
  if (options.hasNoStream()) return special(NO_STREAM);
  if (options.hasAny()) return special(ANY);
  if (options.hasStreamExists()) return special(STREAM_EXISTS);
  return { revision: toNumber(exact), text: exact };
}

/** Sets a log position on a protocol message: unsigned, with equal commit and prepare positions. */
export function setPosition<P extends PositionMessage>(message: P, position: number): P {
  const text = position < 0 ? BigInt.asUintN(64, BigInt(position)).toString() : String(position);
  message.setCommitPosition(text);
  message.setPreparePosition(text);
  return message;
}

/** The protocol messages that carry a position. */
export interface PositionMessage {
  setCommitPosition(value: string): unknown;
  setPreparePosition(value: string): unknown;
}

function special(revision: ExpectedRevision): Expectation {
  return { revision, text: String(revision) };
}
