import { ServiceAuthError } from './errors.js';
import { headersOf, positiveOf, type HeaderFields } from './values.js';

/** What a client is made with. Everything is optional. */
export interface BerthOptions {
  /** A key (`mk_…`) or the token of an end user (`eu_…`). Default: `BERTH_API_KEY` of the environment. */
  readonly apiKey?: string | undefined;
  /** Where Berth is; a path is kept. Default: `BERTH_URL` of the environment, else `http://localhost:8080`. */
  readonly baseUrl?: string | undefined;
  /** Milliseconds that a call may take with its repeats. Default 90,000; `Infinity` sets no limit. */
  readonly timeout?: number | undefined;
  /** How often a failed attempt is repeated, where that is safe. Default 2. */
  readonly maxRetries?: number | undefined;
  /** Headers of every request. */
  readonly headers?: HeaderFields | undefined;
  /** Sends the requests in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** What every method takes after its own arguments. Everything is optional. */
export interface CallOptions {
  /**
   * Milliseconds that the call may take with its repeats. For downloads and streams: until the headers are there, then
   * of each silence. `Infinity` sets no limit.
   */
  readonly timeout?: number | undefined;
  /** Ends the call at once; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of this call, which take precedence over those of the client. */
  readonly headers?: HeaderFields | undefined;
  /** The `Idempotency-Key` of a POST. Without it the client makes one where that is safe. */
  readonly idempotencyKey?: string | undefined;
  /** How often a failed attempt is repeated, where that is safe. */
  readonly maxRetries?: number | undefined;
}

/** The checked options of a client. */
export interface Settings {
  readonly apiKey: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly headers: Headers;
  readonly fetch: typeof globalThis.fetch | undefined;
}

const DEFAULT_URL = 'http://localhost:8080';
const DEFAULT_TIMEOUT_MS = 90_000;
const DEFAULT_MAX_RETRIES = 2;
const HOW_TO_GET_A_KEY =
  "Mint one with `berth keys mint`, or take the one that Berth's first start wrote to `bootstrap-key` in its data " +
  'folder, and pass it as `apiKey` or set BERTH_API_KEY.';

/** A variable of the environment; undefined where there is none, or where it is empty. */
export const variable = (name: string): string | undefined => {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return nonEmpty(process?.env?.[name]);
  } catch {
    // Deno throws without the permission to read it.
    return undefined;
  }
};

const nonEmpty = (value: string | undefined): string | undefined => value?.trim() || undefined;

/** Checks what a client is made with. */
export const settingsOf = (options: BerthOptions): Settings => ({
  apiKey: keyOf(options.apiKey),
  baseUrl: urlOf(options.baseUrl),
  timeout: positiveOf(options.timeout, 'timeout') ?? DEFAULT_TIMEOUT_MS,
  maxRetries: retriesOf(options.maxRetries) ?? DEFAULT_MAX_RETRIES,
  headers: headersOf(options.headers),
  fetch: fetchOf(options.fetch),
});

/** Checks a number of repeats. */
export const retriesOf = (given: number | undefined): number | undefined => {
  if (given !== undefined && !(Number.isInteger(given) && given >= 0))
    throw new TypeError('maxRetries must be a whole number that is not negative.');
  return given;
};

const keyOf = (given: string | undefined): string => {
  if (given !== undefined && typeof given !== 'string') throw new TypeError('apiKey must be a string.');
  const key = nonEmpty(given) ?? variable('BERTH_API_KEY');
  if (key === undefined) throw new ServiceAuthError(`There is no API key. ${HOW_TO_GET_A_KEY}`);
  if (!/^[\x20-\x7e]+$/.test(key))
    throw new ServiceAuthError(`The API key contains characters that no key has. ${HOW_TO_GET_A_KEY}`);
  return key;
};

const urlOf = (given: string | undefined): string => {
  if (given !== undefined && typeof given !== 'string') throw new TypeError('baseUrl must be a string.');
  const text = nonEmpty(given) ?? variable('BERTH_URL') ?? DEFAULT_URL;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError('baseUrl must be an address such as https://berth.example.org.');
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('baseUrl must begin with http:// or https://.');
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl must have no user, password, query or fragment.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
};

const fetchOf = (given: typeof globalThis.fetch | undefined): typeof globalThis.fetch | undefined => {
  if (given !== undefined && typeof given !== 'function') throw new TypeError('fetch must be a function.');
  return given;
};
