import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Headers of every response. Responses contain agents' data and secrets, so clients must not store them, frame them,
 * guess their type or pass on their URL. `CrossOriginHook` adds those that let pages of other origins read a response.
 */
export const FIXED_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** Sets the request id and the default headers that the route did not set itself. */
export const setFixedHeaders = (request: Pick<FastifyRequest, 'id'>, reply: FastifyReply): void => {
  reply.header('x-request-id', request.id);
  for (const name in FIXED_HEADERS) {
    if (!reply.hasHeader(name)) reply.header(name, FIXED_HEADERS[name]);
  }
};
