import type { Json } from '@berth/kernel';
import type { JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { StoredLetter } from './dead-letters.js';
import { EVENT_HEADERS, positionOf } from './event-headers.js';
import { parseEventSubject, type EventSubject } from './event-subject.js';
import type { WireNames } from './wire-names.js';

/** An event as a consumer receives it. */
export interface ReceivedEvent<Payload = { readonly [key: string]: Json | undefined }> extends EventSubject {
  /** Id of the recorded event, a UUID; a redelivery has the same id. */
  readonly id: string;
  readonly subject: string;
  readonly payload: Payload;
  /** Position in the event log. */
  readonly position: bigint;
  readonly recordedAt: Date;
  /** 1 on the first delivery. */
  readonly delivery: number;
}

/** Parses a message; returns undefined if no relay published it. */
export const readEvent = (message: JsMsg, names: WireNames): ReceivedEvent | undefined =>
  toEvent({
    subject: names.logical(message.subject),
    id: message.headers?.get(EVENT_HEADERS.id) ?? '',
    headers: message.headers,
    data: message.data,
    time: message.time,
    delivery: message.info.deliveryCount,
  });

/** Parses the event of a dead letter; returns undefined if the message was not an event. */
export const readLetter = (letter: StoredLetter): ReceivedEvent | undefined =>
  toEvent({
    subject: letter.subject,
    id: letter.eventId,
    headers: letter.headers,
    data: letter.data,
    time: letter.at,
    delivery: letter.deliveries + 1,
  });

const toEvent = ({
  subject,
  id,
  headers,
  data,
  time,
  delivery,
}: {
  readonly subject: string;
  readonly id: string;
  readonly headers: MsgHdrs | undefined;
  readonly data: Uint8Array;
  readonly time: Date;
  readonly delivery: number;
}): ReceivedEvent | undefined => {
  const parsed = parseEventSubject(subject);
  const position = positionOf(headers);
  const payload = readPayload(data);
  if (parsed === undefined || id === '' || position === null || payload === undefined) return undefined;
  const recordedAt = new Date(headers?.get(EVENT_HEADERS.recordedAt) ?? Number.NaN);
  return {
    ...parsed,
    id,
    subject,
    payload,
    position,
    recordedAt: Number.isNaN(recordedAt.getTime()) ? time : recordedAt,
    delivery,
  };
};

const readPayload = (data: Uint8Array): ReceivedEvent['payload'] | undefined => {
  try {
    const payload: unknown = JSON.parse(new TextDecoder().decode(data));
    return typeof payload === 'object' && payload !== null
      ? (payload as ReceivedEvent['payload'])
      : undefined;
  } catch {
    return undefined;
  }
};
