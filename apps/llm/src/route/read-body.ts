import { grantContinue, type HttpExchange } from '@berth/sockets';
import { isObject } from '../dialect/json-value.js';
import { invalidRequest, Refusal } from '../dialect/refusal.js';
import type { RequestBody } from '../dialect/unsupported-parameters.js';

/** The longest body. */
export const MOST_BYTES = 32 * 1_024 * 1_024;

/** The code that reads bodies recurses, and no SDK comes near this. */
const MOST_LEVELS = 256;

export interface ReadBody {
  readonly body: RequestBody;
  /** Its length as the caller sent it. */
  readonly bytes: number;
}

/** Errors: 413; 400 unless it is a JSON object, or if it is nested more than 256 levels deep. */
export const readBody = async (http: HttpExchange): Promise<ReadBody> => {
  const { request } = http;
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge();
  grantContinue(http);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroyed, the request would take the connection with it, and with that the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  const body = parse(Buffer.concat(chunks));
  if (!isObject(body)) throw invalidRequest('The body must be a JSON object.');
  if (isDeeperThan(MOST_LEVELS, body))
    throw invalidRequest(`The body is nested more than ${String(MOST_LEVELS)} levels deep.`);
  return { body, bytes };
};

const parse = (text: Buffer): unknown => {
  try {
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
};

const isDeeperThan = (levels: number, value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
};

const tooLarge = (): Refusal =>
  new Refusal(
    413,
    'request_too_large',
    'payload_too_large',
    `The body is larger than ${String(MOST_BYTES)} bytes.`,
  );
