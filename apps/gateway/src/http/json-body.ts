import { createHash } from 'node:crypto';
import secureJson from 'secure-json-parse';

import { unsupportedMediaType } from './error-response.js';
import type { ApiRequest } from './fastify-types.js';
import { invalidRequest, type HttpRefusal } from './http-refusal.js';

/** Deeper nesting has no use and makes every traversal expensive. */
const MAX_DEPTH = 64;

/** Every JSON media type. */
export const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body's format according to the type and encoding headers. */
export interface BodyHeaders {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/**
 * Parses a JSON body. An empty body is `undefined`, whatever its headers; a body without a type is parsed as JSON.
 * Throws 400 `invalid_request` (not UTF-8, not JSON, a `__proto__` or `constructor.prototype` member, nested deeper
 * than 64) and 415 `unsupported_media_type`.
 */
export const parseJsonBody = (bytes: Uint8Array, headers: BodyHeaders): unknown => {
  if (bytes.length === 0) return undefined;
  refuseEncoding(headers.contentEncoding);
  if (headers.contentType !== undefined && !JSON_TYPE.test(headers.contentType)) throw unsupportedMediaType();
  const value = parse(decode(bytes));
  if (isDeeperThan(value, MAX_DEPTH)) throw badBody(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  return value;
};

const refuseEncoding = (contentEncoding: string | undefined): void => {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity')
    throw unsupportedMediaType('Send the body without Content-Encoding.');
};

/** The body of a route that takes any bytes. Throws 415 if they are encoded. */
const asSent = (bytes: Buffer, contentEncoding: string | undefined): Buffer => {
  if (bytes.length > 0) refuseEncoding(contentEncoding);
  return bytes;
};

const badBody = (message: string): HttpRefusal => invalidRequest([{ path: '', message }]);

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badBody('The body is not UTF-8.');
  }
};

const parse = (text: string): unknown => {
  try {
    return secureJson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch {
    throw badBody(
      isJson(text)
        ? 'The body contains a member named __proto__ or constructor.prototype.'
        : 'The body is not valid JSON.',
    );
  }
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Iterative, because the value may be nested deeper than the stack. */
const isDeeperThan = (root: unknown, levels: number): boolean => {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    const below: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value)) if (typeof member === 'object') below.push(member);
    }
    level = below;
  }
  return false;
};

/** Fastify's parser for every content type; checks the declared type only if there is a body that must be JSON. */
export const readJsonBody = (
  request: ApiRequest,
  bytes: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void => {
  try {
    const contentEncoding = request.headers['content-encoding'];
    const { body: rule } = request.routeOptions.config.rules ?? {};
    const body =
      rule?.kind === 'bytes'
        ? asSent(bytes, contentEncoding)
        : parseJsonBody(bytes, { contentType: request.declaredType, contentEncoding });
    if (request.headers['idempotency-key'] !== undefined) {
      request.bodyDigest = createHash('sha256').update(bytes).digest('hex');
    }
    done(null, body);
  } catch (error) {
    done(error instanceof Error ? error : new Error('unreadable body', { cause: error }));
  }
};
