import { createHash } from 'node:crypto';

/**
 * The 64-bit key of an advisory lock, as PostgreSQL's `bigint` in decimal: the first 8 bytes of SHA-256 of the name.
 */
export const lockKey = (name: string): string =>
  createHash('sha256').update(`berth:${name}`).digest().readBigInt64BE(0).toString();
