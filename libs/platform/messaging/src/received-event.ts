import type { Json } from '@berth/kernel';
import type { JsMsg } from '@nats-io/jetstream';
import { EVENT_HEADERS, positionOf } from './event-headers.js';
import { parseEventSubject, type EventSubject } from './event-subject.js';
import type { WireNames } from './wire-names.js';

/** A context's event as a consumer gets it. */
export interface ReceivedEvent<Payload = { readonly [key: string]: Json | undefined }> extends EventSubject {
  /** The recorded event's id, a UUID: the same event again has the same id. */
  readonly id: string;
  readonly subject: string;
  readonly payload: Payload;
  /** Place in the event log. */
  readonly position: bigint;
  readonly recordedAt: Date;
  /** 1 on the first delivery. */
  readonly delivery: number;
}

/** Reads a message; undefined when it is no event of a relay. */
export const readEvent = (message: JsMsg, names: WireNames): ReceivedEvent | undefined => {
  const logical = names.logical(message.subject);
  const subject = parseEventSubject(logical);
  const id = message.headers?.get(EVENT_HEADERS.id) ?? '';
  const position = positionOf(message.headers);
  if (subject === undefined || id === '' || position === null) return undefined;
  const payload = readPayload(message);
  if (payload === undefined) return undefined;
  const recordedAt = new Date(message.headers?.get(EVENT_HEADERS.recordedAt) ?? Number.NaN);
  return {
    ...subject,
    id,
    subject: logical,
    payload,
    position,
    recordedAt: Number.isNaN(recordedAt.getTime()) ? message.time : recordedAt,
    delivery: message.info.deliveryCount,
  };
};

const readPayload = (message: JsMsg): ReceivedEvent['payload'] | undefined => {
  try {
    const payload: unknown = message.json();
    return typeof payload === 'object' && payload !== null
      ? (payload as ReceivedEvent['payload'])
      : undefined;
  } catch {
    return undefined;
  }
};
