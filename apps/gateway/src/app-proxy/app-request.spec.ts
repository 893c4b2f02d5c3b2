import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ambiguityOf, crossSiteRefusal } from './app-request.js';
import { parseTarget } from './app-target.js';

const ORIGIN = 'https://agt-1.apps.test';
const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

describe("a request with a session's cookie", () => {
  const refused = (headers: Record<string, string>, method = 'GET'): boolean =>
    crossSiteRefusal({ method, headers } as unknown as IncomingMessage, [ORIGIN])?.status === 403;

  it.each<[string, Record<string, string>]>([
    ['GET', { origin: 'https://evil.test' }],
    ['GET', { origin: 'null' }],
    ['GET', { origin: 'http://agt-1.apps.test' }],
    ['GET', { origin: 'https://agt-1.apps.test:444' }],
    ['GET', { origin: 'https://agt-2.apps.test' }],
    ['GET', { origin: '' }],
    ['GET', { origin: 'https://evil.test', 'sec-fetch-site': 'same-origin' }],
    ['GET', { 'sec-fetch-site': 'cross-site' }],
    ['GET', { 'sec-fetch-site': 'same-site' }],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'document' }],
    ['POST', { 'sec-fetch-site': 'cross-site', ...NAVIGATION }],
    ['HEAD', { 'sec-fetch-site': 'same-site', ...NAVIGATION }],
    ['POST', { 'sec-fetch-site': 'same-site' }],
    ['GET', { 'sec-fetch-site': 'cross-site', origin: 'null', ...NAVIGATION }],
  ])('is refused if a foreign page caused it: %s %j', (method, headers) =>
    expect(refused(headers, method)).toBe(true),
  );

  it.each<[string, Record<string, string>]>([
    ['GET', {}],
    ['POST', {}],
    ['POST', { origin: ORIGIN }],
    ['POST', { origin: ORIGIN.toUpperCase() }],
    ['POST', { origin: ORIGIN, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
    ['GET', { 'sec-fetch-site': 'none', ...NAVIGATION }],
    ['GET', { 'sec-fetch-site': 'cross-site', ...NAVIGATION }],
    ['GET', { 'sec-fetch-site': 'same-site', ...NAVIGATION }],
  ])('passes if the app or the user caused it: %s %j', (method, headers) =>
    expect(refused(headers, method)).toBe(false),
  );
});

describe('a request whose parts contradict each other', () => {
  const problem = (
    headers: Record<string, string | string[]>,
    target = '/a',
    method = 'GET',
  ): string | undefined => {
    const headersDistinct = Object.fromEntries(
      Object.entries({ host: 'app.test', ...headers }).map(([name, value]) => [name, [value].flat()]),
    );
    const first = Object.fromEntries(Object.entries(headersDistinct).map(([name, [value]]) => [name, value]));
    const raw = { httpVersion: '1.1', method, headers: first, headersDistinct } as unknown as IncomingMessage;
    return ambiguityOf(raw, parseTarget(target))?.code;
  };

  it.each<[Record<string, string | string[]>, string]>([
    [{ host: ['app.test', 'app.test'] }, '/a'],
    [{ host: 'app test' }, '/a'],
    [{}, 'http://other.test/a'],
    [{}, 'http://app.test@other.test/a'],
    [{}, 'http://app.test:81/a'],
    [{}, 'ws://app.test/schedules'],
    [{}, 'a'],
    [{}, '*'],
    [{ authorization: ['Bearer a', 'Bearer b'] }, '/a'],
    [{ 'transfer-encoding': 'gzip, chunked' }, '/a'],
  ])('is not forwarded: %j to %s', (headers, target) =>
    expect(problem(headers, target)).toBe('invalid_request'),
  );

  it('is forwarded if they agree', () => {
    expect(problem({}, 'http://APP.test/a')).toBeUndefined();
    expect(problem({}, '*', 'OPTIONS')).toBeUndefined();
    expect(
      problem({ 'transfer-encoding': 'Chunked', expect: '100-Continue', authorization: 'x' }),
    ).toBeUndefined();
    expect(problem({ expect: 'tea' })).toBe('expectation_failed');
  });
});
