import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { isDomainError, isStorageFull, type DomainError, type Json } from '@berth/kernel';
import { STATUS_OF_KIND } from '../errors/error-status.js';
import { HttpRefusal, invalidRequest } from './http-refusal.js';
import { LITERAL_DETAILS } from './literal-details.js';

/** An error response. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly detail: Json };
}

/** Messages that replace those of internal requests, which mean nothing to callers. */
const PUBLIC_MESSAGES: Readonly<Record<string, string>> = {
  service_unavailable: 'A part of the service is not available right now. Try again in a moment.',
  deadline_exceeded: 'The response did not arrive in time; the request may still take effect.',
};

/** What else the response to a failed request says. */
export interface Caveat {
  /** Whether the request may have taken effect. Literal responses do not say it. */
  readonly mayHaveBeenDone: boolean;
}

/** Maps any error to its response. */
export const errorResponse = (error: unknown, { mayHaveBeenDone }: Caveat = UNSAID): ErrorResponse => {
  const { isLiteral = false, ...mapped } = isDomainError(error) ? ofDomainError(error) : ofOther(error);
  const { detail } = mapped.body;
  if (!mayHaveBeenDone || isLiteral) return mapped;
  return { ...mapped, body: { detail: Object.assign({}, detail, { mayHaveBeenDone }) } };
};

const UNSAID: Caveat = { mayHaveBeenDone: false };

const ofOther = (error: unknown): MappedError => {
  if (error instanceof HttpRefusal) return ofRefusal(error);
  const refusal = ofFramework(error);
  return refusal === undefined ? INTERNAL : ofRefusal(refusal);
};

interface MappedError extends ErrorResponse {
  readonly isLiteral?: boolean;
}

const response = (
  status: number,
  code: string,
  message: string,
  context: { readonly [key: string]: Json | undefined } = {},
  headers: Readonly<Record<string, string>> = {},
): ErrorResponse => ({
  status,
  headers: status === 401 ? { 'www-authenticate': 'Bearer', ...headers } : headers,
  // `code` and `message` come first in the JSON, and the context cannot override them.
  body: { detail: Object.assign({ code, message }, context, { code, message }) },
});

const INTERNAL = response(
  500,
  'internal_error',
  'An internal error occurred. Report it with the request id of this response.',
);

const ofRefusal = (refusal: HttpRefusal): ErrorResponse =>
  response(refusal.status, refusal.code, refusal.message, refusal.context, refusal.headers);

const ofDomainError = (error: DomainError): MappedError => {
  if (error.kind === 'internal') return INTERNAL;
  const status = STATUS_OF_KIND[error.kind] ?? 500;
  const retry = error.kind === 'unavailable' || error.kind === 'exhausted' ? retryAfter(error) : {};
  if (error.code === 'payload_too_large') return ofRefusal(payloadTooLarge(limitOf(error)));
  const literal = LITERAL_DETAILS[error.code];
  if (literal !== undefined)
    return { status: literal.status, headers: retry, body: { detail: literal.detail }, isLiteral: true };
  const publicMessage = isStorageFull(error) ? undefined : PUBLIC_MESSAGES[error.code];
  if (publicMessage !== undefined) return response(status, error.code, publicMessage, {}, retry);
  const context = {
    ...(error.code === 'invalid_request' ? { fields: [] } : {}),
    ...error.context,
  };
  return response(status, error.code, error.message, context, retry);
};

/** The broker's limit has another name. */
const limitOf = ({ context }: DomainError): number =>
  [context['limitBytes'], context['maxBytes']].find((limit) => typeof limit === 'number') ?? JSON_BODY_LIMIT;

const retryAfter = (error: DomainError): Record<string, string> => {
  const seconds = error.context['retryAfterSeconds'];
  const whole = typeof seconds === 'number' && Number.isFinite(seconds) ? Math.ceil(seconds) : 1;
  return { 'retry-after': String(Math.max(1, whole)) };
};

/** Maps errors of Fastify and Nest by their code or status; any other error is internal. */
const ofFramework = (error: unknown): HttpRefusal | undefined => {
  const { code, status } = frameworkFacts(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || status === 413) return payloadTooLarge(JSON_BODY_LIMIT);
  if (code === 'FST_ERR_BAD_URL') {
    return invalidRequest([{ path: 'path', message: 'The path contains invalid percent-encoding.' }]);
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return invalidRequest([
      { path: 'Content-Length', message: 'The length of the body differs from Content-Length.' },
    ]);
  }
  if (status === 400) return invalidRequest([{ path: '', message: 'The request could not be read.' }]);
  return status === undefined ? undefined : OF_STATUS[status]?.();
};

const OF_STATUS: Readonly<Record<number, () => HttpRefusal>> = {
  404: () => unknownRoute(),
  405: () => new HttpRefusal(405, 'method_not_allowed', 'This path does not accept that method.'),
  415: () => unsupportedMediaType(),
};

/** 404 for a path that no route has. */
export const unknownRoute = (): HttpRefusal =>
  new HttpRefusal(404, 'not_found', 'There is no such route. The interface is described at /docs.');

/** 413 with the limit in bytes, of `what`. */
export const payloadTooLarge = (limitBytes: number, what = 'The body'): HttpRefusal =>
  new HttpRefusal(413, 'payload_too_large', `${what} is larger than ${limitBytes} bytes.`, { limitBytes });

/** 415: bodies are JSON. */
export const unsupportedMediaType = (message = 'Send the body as application/json.'): HttpRefusal =>
  new HttpRefusal(415, 'unsupported_media_type', message);

interface FrameworkFacts {
  readonly code: unknown;
  readonly status: number | undefined;
}

/** Nest wraps Fastify's errors: the original is the cause. */
const frameworkFacts = (error: unknown): FrameworkFacts => {
  if (!(error instanceof Error)) return { code: undefined, status: undefined };
  const cause = error.cause;
  const code = codeOf(cause) ?? codeOf(error);
  if ('getStatus' in error && typeof error.getStatus === 'function') {
    const status: unknown = error.getStatus();
    return { code, status: typeof status === 'number' ? status : undefined };
  }
  const isFastify = typeof code === 'string' && code.startsWith('FST_ERR_');
  const status = 'statusCode' in error && isFastify ? error.statusCode : undefined;
  return { code, status: typeof status === 'number' ? status : undefined };
};

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
