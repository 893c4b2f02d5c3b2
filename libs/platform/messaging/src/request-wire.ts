import { DomainError, isDomainError, isErrorKind, newId, type ErrorKind, type Json } from '@berth/kernel';
import { injectTrace, requestContext, type TraceCarrier } from '@berth/telemetry';
import { headers as newHeaders, type MsgHdrs } from '@nats-io/transport-node';

/** Headers of a request. Names are compared to the letter. */
export const HEADERS = {
  requestId: 'Berth-Request-Id',
  /** Milliseconds the caller still waits when it sends. */
  deadlineMs: 'Berth-Deadline-Ms',
  /** On a request: the caller understands heartbeats. On an empty reply: the handler still runs. */
  heartbeat: 'Berth-Heartbeat',
} as const;

/** What Nest's NATS transport sends (`ReadPacket & PacketId`). */
export interface RequestPacket {
  readonly pattern: string;
  readonly data: unknown;
  readonly id: string;
}

/** What Nest's NATS transport answers (`WritePacket & PacketId`). */
export interface ReplyPacket {
  readonly id?: string;
  readonly err?: unknown;
  readonly response?: unknown;
  readonly isDisposed?: boolean;
}

/** A refusal on its way between services. */
export interface ErrorEnvelope {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly context: { readonly [key: string]: Json | undefined };
}

/** What a caller is told when something broke that is no refusal. */
export const INTERNAL_ERROR: ErrorEnvelope = {
  kind: 'internal',
  code: 'internal_error',
  message: 'Something went wrong on our side.',
  context: {},
};

/** The one place where an error becomes what another service sees: anything but a refusal says nothing of itself. */
export const toEnvelope = (error: unknown): ErrorEnvelope =>
  isDomainError(error)
    ? { kind: error.kind, code: error.code, message: error.message, context: error.context }
    : INTERNAL_ERROR;

/** The far side's refusal as an error of this side; an unknown shape is an internal error. */
export const fromEnvelope = (value: unknown): DomainError => {
  const envelope = isEnvelope(value) ? value : INTERNAL_ERROR;
  return new DomainError(envelope.kind, envelope.code, envelope.message, envelope.context ?? {});
};

const isEnvelope = (value: unknown): value is ErrorEnvelope =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  isErrorKind(value.kind) &&
  'code' in value &&
  typeof value.code === 'string' &&
  'message' in value &&
  typeof value.message === 'string';

/** Puts the host's name into a subject that has a place for it. */
export const fillHost = (subject: string, host: string | undefined): string => {
  if (!subject.includes('{host}')) return subject;
  if (host === undefined || !/^[A-Za-z0-9_-]+$/.test(host)) {
    throw new Error(`The subject ${subject} needs a host name of letters, digits, _ and -.`);
  }
  return subject.replace('{host}', host);
};

/**
 * Who answers requests of this subject, as one token of a reply subject: `agents`, `runtime`, and `runtime-hst_1` for
 * what names a host.
 */
export const responderOf = (template: string, host?: string): string => {
  const [, service = ''] = template.split('.');
  return host !== undefined && template.includes('{host}') ? `${service}-${host}` : service;
};

/** Headers of a request: whose request it is, how long it may take, the trace it belongs to. */
export const requestHeaders = (deadlineMs: number): MsgHdrs => {
  const headers = newHeaders();
  headers.set(HEADERS.requestId, requestContext.current()?.requestId ?? newId('req'));
  headers.set(HEADERS.deadlineMs, String(Math.ceil(deadlineMs)));
  headers.set(HEADERS.heartbeat, '1');
  setTrace(headers, injectTrace());
  return headers;
};

/** W3C trace context as headers. */
export const setTrace = (headers: MsgHdrs, { traceparent, tracestate }: TraceCarrier): void => {
  if (traceparent !== undefined) headers.set('traceparent', traceparent);
  if (tracestate !== undefined && tracestate !== '') headers.set('tracestate', tracestate);
};

/** The trace context that headers carry, `{}` without one. */
export const traceOf = (headers: MsgHdrs | undefined): TraceCarrier => {
  const traceparent = headers?.get('traceparent') ?? '';
  const tracestate = headers?.get('tracestate') ?? '';
  return { ...(traceparent === '' ? {} : { traceparent }), ...(tracestate === '' ? {} : { tracestate }) };
};

/** The request id that headers carry, a new one without. */
export const requestIdOf = (headers: MsgHdrs | undefined): string => {
  const id = headers?.get(HEADERS.requestId) ?? '';
  return /^[\w.:-]{1,128}$/.test(id) ? id : newId('req');
};
