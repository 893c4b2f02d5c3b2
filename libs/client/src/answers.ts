import {
  ServiceAuthError,
  ServiceConflictError,
  ServiceConnectionError,
  ServiceError,
  ServiceNotFoundError,
  ServicePaymentRequiredError,
  ServiceRateLimitError,
} from './errors.js';
import { retryAfterMs } from './retry.js';

const SHOWN_OF_BODIES = 1_000;
const SHOWN_IN_MESSAGES = 200;

const CLASSES: Readonly<Record<number, typeof ServiceError>> = {
  401: ServiceAuthError,
  402: ServicePaymentRequiredError,
  403: ServiceAuthError,
  404: ServiceNotFoundError,
  409: ServiceConflictError,
};

/** Hides the key where something shows it, for example the page of a proxy. */
export type Redact = (text: string) => string;

/** The error that an answer other than 2xx stands for. */
export const refusalOf = (response: Response, body: string, redact: Redact): ServiceError => {
  const { status } = response;
  const shown = redact(body);
  const { detail, message } = detailOf(shown);
  const code = isObject(detail) && typeof detail['code'] === 'string' ? detail['code'] : undefined;
  const headers = redactedHeaders(response.headers, redact);
  const fields = { status, code, detail, requestId: requestIdOf(response), headers };
  const text = message ?? withoutMessage(response, shown);
  if (status === 429) {
    const wait = retryAfterMs(headers);
    return new ServiceRateLimitError(text, {
      ...fields,
      retryAfter: wait === undefined ? wait : wait / 1_000,
    });
  }
  // Of a redirect, browsers show neither status nor headers.
  if (response.type === 'opaqueredirect') return new ServiceError(text, { code: 'redirected' });
  return new (CLASSES[status] ?? ServiceError)(text, fields);
};

/** `detail` of a body, and the message in it. */
const detailOf = (shown: string): { detail: unknown; message?: string | undefined } => {
  const body = parsed(shown);
  if (!isObject(body)) return { detail: shown.slice(0, SHOWN_OF_BODIES) };
  const detail = 'detail' in body ? body['detail'] : body;
  const { message, code } = isObject(detail) ? detail : { message: detail, code: undefined };
  const said = [message, code].find((text) => typeof text === 'string' && text.trim() !== '');
  return { detail, message: said as string | undefined };
};

const withoutMessage = (response: Response, shown: string): string => {
  const { status, statusText } = response;
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
    return `The server answered ${status || 'a redirect'} and points elsewhere; check the base URL.`;
  const start = shown.replace(/\s+/g, ' ').trim().slice(0, SHOWN_IN_MESSAGES);
  const answered = `The server answered ${`${status} ${statusText}`.trim()}`;
  return start === '' ? `${answered}.` : `${answered}: ${start}`;
};

/** The error of a 2xx answer that is not what was asked for. */
export const invalidResponse = (response: Response, body: string, redact: Redact): ServiceError => {
  const shown = redact(body);
  return new ServiceError(
    `The server answered ${response.status} with something that Berth does not send; is something else at this ` +
      `address? It begins: ${JSON.stringify(shown.slice(0, SHOWN_IN_MESSAGES))}`,
    {
      status: response.status,
      code: 'invalid_response',
      detail: shown.slice(0, SHOWN_OF_BODIES),
      requestId: requestIdOf(response),
      headers: redactedHeaders(response.headers, redact),
    },
  );
};

/** The error of an attempt without a whole answer. */
export const connectionError = (cause: unknown, redact: Redact): ServiceConnectionError => {
  const reason = redact(reasonOf(cause));
  return new ServiceConnectionError(
    `The connection to the service failed: ${reason}`,
    'connection_failed',
    cause,
  );
};

/** What the lowest of the errors says: `fetch` itself only says that it failed. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || (error as { code?: string }).code || error.name;
};

/** The `X-Request-Id` of an answer. */
export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('x-request-id') || undefined;

const redactedHeaders = (headers: Headers, redact: Redact): Headers => {
  const shown = new Headers();
  headers.forEach((value, name) => shown.append(name, redact(value)));
  return shown;
};

/** A body as JSON; undefined if it is none. */
export const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
};

/** Whether a value is an object with members. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
