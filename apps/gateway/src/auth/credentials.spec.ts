import { formatKey } from '@berth/contracts/accounts';
import { describe, expect, it } from 'vitest';
import { bearerOf, credentialOf, hasForbiddenCredential, hashKey } from './credentials.js';

const KEY = formatKey(new Uint8Array(32).fill(9));
const TOKEN = `eu_${'a'.repeat(43)}`;

describe('the bearer credential', () => {
  it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER   ${KEY} `])('is the API key in %j', (header) => {
    expect(bearerOf(header)).toEqual({ kind: 'key', hash: hashKey(KEY) });
  });

  it.each([
    [TOKEN, 'end_user'],
    ['at_abc', 'agent'],
    ['wh_abc', 'webhook'],
  ])('%s is of the kind %s', (secret, kind) => {
    expect(bearerOf(`Bearer ${secret}`)).toEqual({ kind, hash: hashKey(secret) });
  });

  it.each([
    undefined,
    '',
    KEY,
    `Basic ${KEY}`,
    `Bearer ${KEY} ${KEY}`,
    `Bearer ${KEY.slice(0, -1)}`,
    'Bearer xx_abc',
    'Bearer __proto___abc',
    `Bearer\t${KEY}`,
  ])('is absent in %j', (header) => expect(bearerOf(header)).toBeUndefined());

  it('is hashed to 64 hexadecimal digits', () => expect(hashKey(KEY)).toMatch(/^[0-9a-f]{64}$/));
});

describe('the credential of a request', () => {
  const socket = { accepts: { key: 'deploy', end_user: 'console' }, tokenInQuery: true } as const;

  it('is read from ?token= only on a route that declares it', () => {
    const request = { headers: {}, query: { token: TOKEN } };
    expect(credentialOf(request, socket)).toEqual({ kind: 'end_user', hash: hashKey(TOKEN) });
    expect(credentialOf(request, {})).toBeUndefined();
  });

  it('is never read from the query if it is an API key or an agent token', () => {
    expect(credentialOf({ headers: {}, query: { token: KEY } }, socket)).toBeUndefined();
    expect(credentialOf({ headers: {}, query: { token: 'at_abc' } }, socket)).toBeUndefined();
  });

  it('is read from a header rather than from the query if both carry one', () => {
    const headers = { authorization: `Bearer ${KEY}` };
    expect(credentialOf({ headers, query: { token: TOKEN } }, socket)?.kind).toBe('key');
  });

  it('is never read from the header of webhooks', () => {
    const request = { headers: { 'x-service-webhook-token': 'wh_abc' }, query: {} };
    expect(credentialOf(request, socket)).toBeUndefined();
  });
});

describe('a credential that a query must not carry', () => {
  it.each([{ token: '' }, { token: 'x' }, { a: KEY }, { a: ['1', KEY] }, { eu: TOKEN }])(
    'is found in %j',
    (query) => expect(hasForbiddenCredential(query, false)).toBe(true),
  );

  it.each([{}, null, undefined, { name: 'mk_robot' }, { tokens: 'x' }, { a: ['1'] }])(
    'is not found in %j',
    (query) => expect(hasForbiddenCredential(query, false)).toBe(false),
  );

  it('is, on a route that accepts ?token=, an API key, a repeated token or a token under another name', () => {
    expect(hasForbiddenCredential({ token: TOKEN }, true)).toBe(false);
    for (const query of [{ token: KEY }, { token: [TOKEN, TOKEN] }, { token: TOKEN, a: TOKEN }])
      expect(hasForbiddenCredential(query, true)).toBe(true);
  });
});
