import type { RecordedEvent } from '@berth/event-store';
import { headers as newHeaders, type MsgHdrs } from '@nats-io/transport-node';
import type { LogMark } from './log-mark.js';
import { HEADERS, setTrace } from './request-wire.js';

/** Headers of an event in JetStream. */
export const EVENT_HEADERS = {
  /** JetStream's own deduplication; the event's id. */
  id: 'Nats-Msg-Id',
  /** Position in the event log, decimal. */
  position: 'Berth-Position',
  /** The position after which this is the next event of its context, decimal; `start` if it is the first one. */
  follows: 'Berth-Follows',
  /** ISO 8601. */
  recordedAt: 'Berth-Recorded-At',
  /** Of a dead letter: its reason, the number of deliveries, and the subject and id of its event. */
  deadReason: 'Berth-Dead-Reason',
  deadDeliveries: 'Berth-Dead-Deliveries',
  originalSubject: 'Berth-Original-Subject',
  originalId: 'Berth-Original-Id',
} as const;

/**
 * Returns the headers of an event: its position in the log and the one that it follows (null: it is the first), the time of
 * its recording, its request and its trace.
 */
export const eventHeaders = (event: RecordedEvent, follows: bigint | null): MsgHdrs => {
  const headers = newHeaders();
  headers.set(EVENT_HEADERS.position, event.position.toString());
  headers.set(EVENT_HEADERS.follows, follows?.toString() ?? 'start');
  headers.set(EVENT_HEADERS.recordedAt, event.createdAt.toISOString());
  if (/^[\w.:-]{1,128}$/.test(event.metadata.correlationId))
    headers.set(HEADERS.requestId, event.metadata.correlationId);
  const { traceparent } = event.metadata;
  if (traceparent !== undefined) setTrace(headers, { traceparent });
  return headers;
};

/** Returns the log position in the headers; null if there is none. */
export const positionOf = (headers: MsgHdrs | undefined): bigint | null => {
  const text = headers?.get(EVENT_HEADERS.position) ?? '';
  return /^\d{1,20}$/.test(text) ? BigInt(text) : null;
};

/** Returns the position and the id of the event in the headers; null if one of them is missing. */
export const markOf = (headers: MsgHdrs | undefined): LogMark | null => {
  const position = positionOf(headers);
  const eventId = headers?.get(EVENT_HEADERS.id) ?? '';
  return position === null || eventId === '' ? null : { position, eventId };
};
