import { text } from '@berth/contracts/schema';
import type { FastifyRequest } from 'fastify';

/** The header `Idempotency-Key`. */
export const IDEMPOTENCY_KEY = text({
  max: 255,
  pattern: /^[\x20-\x7e]+$/,
  means: 'must be 1 to 255 printable ASCII characters',
});

/** The key of a request on which it has a meaning. */
export const idempotencyKeyOf = ({
  headers,
  method,
}: Pick<FastifyRequest, 'headers' | 'method'>): string | readonly string[] | undefined =>
  method === 'POST' ? headers['idempotency-key'] : undefined;
