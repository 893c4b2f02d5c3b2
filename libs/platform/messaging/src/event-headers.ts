import type { RecordedEvent } from '@berth/event-store';
import { headers as newHeaders, type MsgHdrs } from '@nats-io/transport-node';
import type { LogMark } from './log-mark.js';
import { HEADERS, setTrace } from './request-wire.js';

/** Headers of an event in JetStream. */
export const EVENT_HEADERS = {
  /** JetStream's own deduplication; the event's id. */
  id: 'Nats-Msg-Id',
  /** Place in the event log, decimal. */
  position: 'Berth-Position',
  /** ISO 8601. */
  recordedAt: 'Berth-Recorded-At',
  /** Why and after how many deliveries it became a dead letter, where it stood and whose it was. */
  deadReason: 'Berth-Dead-Reason',
  deadDeliveries: 'Berth-Dead-Deliveries',
  originalSubject: 'Berth-Original-Subject',
  originalId: 'Berth-Original-Id',
} as const;

/** What travels with an event: where it stands in the log, the request and trace it belongs to. */
export const eventHeaders = (event: RecordedEvent): MsgHdrs => {
  const headers = newHeaders();
  headers.set(EVENT_HEADERS.position, event.position.toString());
  headers.set(EVENT_HEADERS.recordedAt, event.createdAt.toISOString());
  if (/^[\w.:-]{1,128}$/.test(event.metadata.correlationId))
    headers.set(HEADERS.requestId, event.metadata.correlationId);
  const { traceparent } = event.metadata;
  if (traceparent !== undefined) setTrace(headers, { traceparent });
  return headers;
};

/** The log position that headers carry; null when they carry none. */
export const positionOf = (headers: MsgHdrs | undefined): bigint | null => {
  const text = headers?.get(EVENT_HEADERS.position) ?? '';
  return /^\d{1,20}$/.test(text) ? BigInt(text) : null;
};

/** The event that headers name; null when they name none. */
export const markOf = (headers: MsgHdrs | undefined): LogMark | null => {
  const position = positionOf(headers);
  const eventId = headers?.get(EVENT_HEADERS.id) ?? '';
  return position === null || eventId === '' ? null : { position, eventId };
};
