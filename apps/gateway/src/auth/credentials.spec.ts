import { formatKey } from '@berth/contracts/accounts';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { addAccessCheck } from './authenticate.hook.js';
import { hasCredential, hashKey, keyOf } from './credentials.js';

const KEY = formatKey(new Uint8Array(32).fill(9));

describe('the key of a request', () => {
  it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER   ${KEY} `])('is read from %j', (header) => {
    expect(keyOf(header)).toBe(KEY);
  });

  it.each([
    undefined,
    '',
    KEY,
    `Basic ${KEY}`,
    `Bearer ${KEY} ${KEY}`,
    `Bearer ${KEY.slice(0, -1)}`,
    'Bearer eu_abc',
    `Bearer\t${KEY}`,
  ])('is not there in %j', (header) => expect(keyOf(header)).toBeUndefined());

  it('travels as SHA-256 in hex', () => expect(hashKey(KEY)).toMatch(/^[0-9a-f]{64}$/));
});

describe('a credential in a query', () => {
  it.each([{ token: '' }, { token: 'x' }, { a: KEY }, { a: ['1', KEY] }, { eu: `eu_${'a'.repeat(43)}` }])(
    'is seen in %j',
    (query) => {
      expect(hasCredential(query)).toBe(true);
    },
  );

  it.each([{}, null, undefined, { name: 'mk_robot' }, { tokens: 'x' }, { a: ['1'] }])(
    'is not seen in %j',
    (query) => {
      expect(hasCredential(query)).toBe(false);
    },
  );
});

describe('a route that does not state its access', () => {
  it('cannot be registered', () => {
    const server = fastify();
    addAccessCheck(server);
    expect(() => server.get('/open', () => 'x')).toThrow('The route GET /open does not state its access.');
    expect(() => server.get('/stated', { config: { rules: { access: 'public' } } }, () => 'x')).not.toThrow();
  });
});
