import type { IncomingMessage } from 'node:http';
import { DomainError } from '@berth/kernel';
import { GUEST_LIMITS } from '@berth/guest-protocol';

/** Time limit for a JSON body, which a runtime on the same machine sends at once. */
const JSON_BODY_MS = 60_000;

/** The JSON of a request's body; undefined without one. Errors: those of `readBody` and `parseJson`. */
export const readJson = async (request: IncomingMessage): Promise<unknown> =>
  parseJson(await readBody(request));

/** The body of a request that has JSON. Errors: too_large `payload_too_large`. */
export const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const late = setTimeout(() => request.destroy(), JSON_BODY_MS);
  try {
    return await readAll(request);
  } finally {
    clearTimeout(late);
  }
};

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // By default, leaving the iteration early destroys the connection, and with it the error response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > GUEST_LIMITS.requestBytes) {
      throw new DomainError('too_large', 'payload_too_large', 'The request is too large for a guest.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Errors: invalid `invalid_request`. */
export const parseJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new DomainError('invalid', 'invalid_request', 'The body is not JSON.');
  }
};
