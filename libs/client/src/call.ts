import type { Body } from './body.js';
import { retriesOf, type CallOptions, type Settings } from './config.js';
import { isServer, randomId } from './runtime.js';
import { headersOf, positiveOf, queryString, type Query } from './values.js';
import { VERSION } from './version.js';

/**
 * When a failed attempt is repeated: `safe`: whenever it may succeed, because no attempt acts twice; `busy`: only after
 * 429; `not_started`: only when the service guarantees that the command did not start.
 */
export type Repeat = 'safe' | 'busy' | 'not_started' | 'never';

/** A request, described once: what is sent, and when it may be repeated. */
export interface Call {
  readonly method: string;
  /** Encoded, below the base URL. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: Body | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `safe`. */
  readonly repeat?: Repeat;
  /** Milliseconds that the call may take at least, unless its options say otherwise. */
  readonly leastTimeout?: number;
  /** Sent without the key. */
  readonly anonymous?: boolean;
  /** Whether a `safe` POST gets an `Idempotency-Key` of the client. Default true. */
  readonly makesKey?: boolean;
}

/** A call with all that is the same for each of its attempts. */
export interface PreparedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Body | undefined;
  readonly repeat: Repeat;
  readonly maxRetries: number;
  /** Milliseconds. */
  readonly timeout: number;
}

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Completes a call with the settings of the client and the options of the caller. Throws a TypeError for bad ones. */
export const prepare = (call: Call, settings: Settings, options: CallOptions): PreparedCall => {
  const headers = headersFor(call, settings, options);
  const { method, repeat = 'safe', makesKey = true } = call;
  const needsKey = method === 'POST' && repeat === 'safe' && !headers.has('idempotency-key');
  if (needsKey && makesKey) headers.set('idempotency-key', `berth-${randomId()}`);
  const separated = call.path.includes('?')
    ? queryString(call.query).replace('?', '&')
    : queryString(call.query);
  return {
    method,
    url: `${settings.baseUrl}${call.path}${separated}`,
    headers,
    body: call.body,
    repeat: needsKey && !makesKey ? 'never' : repeat,
    maxRetries: retriesOf(options.maxRetries) ?? settings.maxRetries,
    timeout: timeoutOf(call, settings, options),
  };
};

/** Milliseconds that a call may take with its repeats. */
export const timeoutOf = (
  call: Pick<Call, 'leastTimeout'>,
  settings: Settings,
  options: CallOptions,
): number => positiveOf(options.timeout, 'timeout') ?? Math.max(settings.timeout, call.leastTimeout ?? 0);

const headersFor = (call: Call, settings: Settings, options: CallOptions): Headers => {
  const headers = new Headers({ accept: 'application/json' });
  // A browser names itself, and would ask the service for permission to send another name.
  if (isServer()) headers.set('user-agent', `berth-client-typescript/${VERSION}`);
  const add = (more: Headers): void => more.forEach((value, name) => headers.set(name, value));
  add(settings.headers);
  if (call.body?.contentType !== undefined) headers.set('content-type', call.body.contentType);
  add(headersOf(call.headers));
  add(headersOf(options.headers));
  const { idempotencyKey } = options;
  if (idempotencyKey !== undefined) {
    if (typeof idempotencyKey !== 'string' || !PRINTABLE.test(idempotencyKey))
      throw new TypeError('idempotencyKey must have 1 to 255 printable characters of ASCII.');
    if (call.method !== 'GET' && call.method !== 'HEAD') headers.set('idempotency-key', idempotencyKey);
  }
  if (call.anonymous === true) headers.delete('authorization');
  else headers.set('authorization', `Bearer ${settings.apiKey}`);
  return headers;
};
