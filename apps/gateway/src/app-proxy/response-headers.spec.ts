import { describe, expect, it } from 'vitest';
import { callerHeaders } from './response-headers.js';

const HOST = 'agt-1.apps.test';

describe('the headers for a caller', () => {
  it('are those of the program, in their order and spelling', () => {
    const own = ['Content-Type', 'text/html', 'X-Own', 'a', 'x-own', 'b', 'Content-Length', '3'];
    expect(callerHeaders(own, HOST)).toEqual(own);
  });

  it.each([
    ['Clear-Site-Data', '"*"'],
    ['Service-Worker-Allowed', '/'],
    ['X-Request-Id', 'theirs'],
    ['Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=5'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['Proxy-Authenticate', 'Basic'],
  ])('do not include %s', (name, value) => {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase()])
      expect(callerHeaders([spelling, value], HOST)).toEqual([]);
  });

  it('do not include the headers that Connection names', () => {
    expect(callerHeaders(['Connection', 'X-Own', 'X-Own', 'a', 'X-Other', 'b'], HOST)).toEqual([
      'X-Other',
      'b',
    ]);
  });

  it.each([
    'a=1; Domain=apps.test',
    'a=1; Domain=.apps.test',
    'a=1; domain=TEST',
    'a=1; DOMAIN = apps.test ; Path=/',
    'a=1;Domain=apps.test',
    'a=1; Domain=agt-1.apps.test; Domain=apps.test',
    'a=1; Domain=agt-2.apps.test',
    'a=1; Domain=apps.test.',
    'berth_app=x',
    ' berth_app =x',
    '=berth_app=x',
    ' = berth_app=x; Path=/',
    '__Host-berth_app=x; Secure; Path=/',
  ])('do not include the cookie %s', (cookie) => {
    expect(callerHeaders(['Set-Cookie', cookie, 'SET-COOKIE', cookie], HOST)).toEqual([]);
  });

  it.each([
    'a=1',
    'a=Domain=apps.test',
    'a=1; Path=/; HttpOnly',
    `a=1; Domain=${HOST}`,
    `a=1; Domain=.${HOST.toUpperCase()}`,
    'a=1; Domain=',
  ])('include the cookie %s', (cookie) =>
    expect(callerHeaders(['Set-Cookie', cookie], HOST)).toEqual(['Set-Cookie', cookie]),
  );
});
