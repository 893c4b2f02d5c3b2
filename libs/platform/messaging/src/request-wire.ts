import {
  DomainError,
  isDomainError,
  isEffect,
  isErrorKind,
  newId,
  type Effect,
  type ErrorKind,
  type Json,
} from '@berth/kernel';
import { injectTrace, requestContext, type TraceCarrier } from '@berth/telemetry';
import { headers as newHeaders, type Msg, type MsgHdrs } from '@nats-io/transport-node';

/** Headers of a request. Names are case-sensitive. */
export const HEADERS = {
  requestId: 'Berth-Request-Id',
  /** How long the caller waits after sending, in milliseconds. */
  deadlineMs: 'Berth-Deadline-Ms',
  /** On a request: the caller supports heartbeats. On an empty reply: the handler still runs. */
  heartbeat: 'Berth-Heartbeat',
  /**
   * On a request: `<clock id> <time of sending on that clock> <ms that its caller waits for the first heartbeat or reply> <ms
   * that it has waited already, on a request that is sent again>`.
   */
  sent: 'Berth-Sent',
  /** On an empty reply, before the request is handled: asks whether the caller still waits. */
  stillWaiting: 'Berth-Still-Waiting',
} as const;

/** When a request was sent, and how long its caller waits for the first heartbeat or reply. */
export interface Sending {
  readonly clock: string;
  readonly sentAt: number;
  readonly waitsMs: number;
  /** How long the caller had waited when it sent this copy. */
  readonly waitedMs: number;
}

/** A caller's reply to `stillWaiting`, and to a heartbeat of a request that it no longer waits for. */
export interface Waiting {
  readonly clock: string;
  readonly now: number;
  /** How long from `now` the caller waits for a heartbeat or the reply; 0 when it has given up. */
  readonly waitsMs: number;
}

export const formatSending = ({ clock, sentAt, waitsMs, waitedMs }: Sending): string =>
  `${clock} ${sentAt.toFixed(1)} ${Math.ceil(waitsMs)} ${Math.ceil(waitedMs)}`;

/** Returns undefined for a request without a time of sending. */
export const sendingOf = (headers: MsgHdrs | undefined): Sending | undefined => {
  const [clock = '', ...numbers] = (headers?.get(HEADERS.sent) ?? '').split(' ');
  // A sender of an older release does not state how long its caller has waited.
  const [sentAt = Number.NaN, waitsMs = Number.NaN, waitedMs = 0] = numbers.map(Number);
  return [sentAt, waitsMs, waitedMs].every(Number.isFinite)
    ? { clock, sentAt, waitsMs, waitedMs }
    : undefined;
};

export const parseWaiting = (message: Msg): Waiting | undefined => {
  try {
    const { clock, now, waitsMs } = message.json<Record<keyof Waiting, unknown>>();
    if (typeof clock !== 'string' || typeof now !== 'number' || typeof waitsMs !== 'number') return undefined;
    return { clock, now, waitsMs };
  } catch {
    return undefined;
  }
};

/** A request of Nest's NATS transport (`ReadPacket & PacketId`). */
export interface RequestPacket {
  readonly pattern: string;
  readonly data: unknown;
  readonly id: string;
}

/** A reply of Nest's NATS transport (`WritePacket & PacketId`). */
export interface ReplyPacket {
  readonly id?: string;
  readonly err?: unknown;
  readonly response?: unknown;
  readonly isDisposed?: boolean;
}

/** An error as it is sent between services. */
export interface ErrorEnvelope {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly context: { readonly [key: string]: Json | undefined };
  /** Absent: not stated, see `effectOf`. */
  readonly effect?: Effect;
}

/** What a caller gets for any error that is not a DomainError. */
export const INTERNAL_ERROR: ErrorEnvelope = {
  kind: 'internal',
  code: 'internal_error',
  message: 'Something went wrong on our side.',
  context: {},
};

/** The only place that converts errors for other services. Errors other than DomainErrors reveal nothing. */
export const toEnvelope = (error: unknown): ErrorEnvelope => {
  if (!isDomainError(error)) return INTERNAL_ERROR;
  const { kind, code, message, context, effect } = error;
  const isStated = effect !== undefined && !TRANSPORT_CODES.has(code);
  return { kind, code, message, context, ...(isStated ? { effect } : {}) };
};

/**
 * Codes of failed requests. When a handler rethrows one it concerns the handler's own request, which says nothing about
 * what the handler did before.
 */
const TRANSPORT_CODES: ReadonlySet<string> = new Set(['service_unavailable', 'deadline_exceeded']);

/** Converts an error from another service; an unknown shape becomes an internal error. */
export const fromEnvelope = (value: unknown): DomainError => {
  const { kind, code, message, context, effect } = isEnvelope(value) ? value : INTERNAL_ERROR;
  return new DomainError(kind, code, message, context ?? {}, isEffect(effect) ? { effect } : {});
};

/** Whether the server rejected the request before its handler began; no handler can send this itself. */
export const wasNotBegun = (value: unknown): boolean =>
  isEnvelope(value) && value.effect === 'none' && TRANSPORT_CODES.has(value.code);

const isEnvelope = (value: unknown): value is ErrorEnvelope =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  isErrorKind(value.kind) &&
  'code' in value &&
  typeof value.code === 'string' &&
  'message' in value &&
  typeof value.message === 'string';

const SENDER = '{from}';

/** Replaces `{host}` or `{from}` in a subject. */
export const fillHost = (subject: string, host: string | undefined): string => {
  if (!subject.includes('{host}') && !subject.includes(SENDER)) return subject;
  if (host === undefined || !/^[A-Za-z0-9_-]+$/.test(host)) {
    throw new Error(`The subject ${subject} needs a host name of letters, digits, _ and -.`);
  }
  return subject.replace('{host}', host).replace(SENDER, host);
};

/** The subject that a handler subscribes to: its own host's requests, and those that come from any host. */
export const subscribedSubject = (template: string, host: string | undefined): string =>
  template.endsWith(`.${SENDER}`) ? template.replace(SENDER, '*') : fillHost(template, host);

/**
 * Whether a request came from the host that its payload names. The broker lets a host publish only on subjects that end
 * in its own id, so a payload with another host's id is a forgery. True for a template without `{from}`.
 */
export const isFromItsHost = (template: string, subject: string, payload: unknown): boolean => {
  if (!template.endsWith(`.${SENDER}`)) return true;
  const sender = subject.slice(subject.lastIndexOf('.') + 1);
  return typeof payload === 'object' && payload !== null && 'host' in payload && payload.host === sender;
};

/**
 * The responder to requests of this subject, as one token of a reply subject: `agents`, `runtime`, or `runtime-hst_1`
 * for a subject with a host.
 */
export const responderOf = (template: string, host?: string): string => {
  const [, service = ''] = template.split('.');
  return host !== undefined && template.includes('{host}') ? `${service}-${host}` : service;
};

/** Returns the headers of a request: request id, time of sending, deadline and trace. */
export const requestHeaders = (deadlineMs: number, sending: Sending): MsgHdrs => {
  const headers = newHeaders();
  headers.set(HEADERS.sent, formatSending(sending));
  headers.set(HEADERS.requestId, requestContext.current()?.requestId ?? newId('req'));
  headers.set(HEADERS.deadlineMs, String(Math.ceil(deadlineMs)));
  headers.set(HEADERS.heartbeat, '1');
  setTrace(headers, injectTrace());
  return headers;
};

/** Sets the W3C trace context. */
export const setTrace = (headers: MsgHdrs, { traceparent, tracestate }: TraceCarrier): void => {
  if (traceparent !== undefined) headers.set('traceparent', traceparent);
  if (tracestate !== undefined && tracestate !== '') headers.set('tracestate', tracestate);
};

/** Returns the trace context in the headers; `{}` if there is none. */
export const traceOf = (headers: MsgHdrs | undefined): TraceCarrier => {
  const traceparent = headers?.get('traceparent') ?? '';
  const tracestate = headers?.get('tracestate') ?? '';
  return { ...(traceparent === '' ? {} : { traceparent }), ...(tracestate === '' ? {} : { tracestate }) };
};

/** Returns the request id in the headers, or a new one. */
export const requestIdOf = (headers: MsgHdrs | undefined): string => {
  const id = headers?.get(HEADERS.requestId) ?? '';
  return /^[\w.:-]{1,128}$/.test(id) ? id : newId('req');
};
