import { describe, expect, it } from 'vitest';
import { isDomainError } from '@berth/kernel';
import { decodeCursor, encodeCursor } from './cursor.js';

const refusalOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('cursors', () => {
  it('are read back as they were written and fit into a query string', () => {
    const value = { at: '2026-11-21T00:00:00.000Z', id: 'agt_ü/+?' };
    const cursor = encodeCursor(value);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(cursor)).toEqual(value);
  });

  it.each([
    '',
    '!',
    'abc',
    'a b',
    Buffer.from('{').toString('base64url'),
    'A'.repeat(5_000),
    encodeCursor({ before: 'a\0b' }),
  ])('that are malformed (%j) are an invalid request that names the field', (cursor) => {
    const refusal = refusalOf(() => decodeCursor(cursor));
    expect(isDomainError(refusal, 'invalid')).toBe(true);
    expect(refusal).toMatchObject({ code: 'invalid_request', context: { fields: [{ path: 'cursor' }] } });
  });

  it('of another list fail the check', () => {
    const refusal = refusalOf(() => decodeCursor(encodeCursor(['x']), (value) => typeof value === 'string'));
    expect(isDomainError(refusal, 'invalid')).toBe(true);
  });
});
