import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isOurAuthorization, programHeaders, type ForwardedFacts } from './request-headers.js';

const FACTS: ForwardedFacts = {
  requestId: 'req_1',
  clientAddress: '192.0.2.7',
  scheme: 'https',
  externalUserId: null,
};

const headersFor = (
  rawHeaders: readonly string[],
  { method = 'GET', facts = FACTS }: { readonly method?: string; readonly facts?: ForwardedFacts } = {},
): string => {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
  const flat = programHeaders({ method, rawHeaders, headers } as unknown as IncomingMessage, facts);
  return flat.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\n`)).join('');
};

describe('the headers for a program', () => {
  it('are those of the caller, in their order and spelling, followed by what Berth knows', () => {
    expect(headersFor(['Host', 'App.test', 'X-Own', 'a', 'x-own', 'b', 'Idempotency-Key', 'k'])).toBe(
      'Host: App.test\nX-Own: a\nx-own: b\nIdempotency-Key: k\nX-Request-Id: req_1\n' +
        'X-Forwarded-For: 192.0.2.7\nX-Forwarded-Proto: https\nX-Forwarded-Host: App.test\n',
    );
  });

  it.each([
    ['X-Forwarded-For', '1.1.1.1'],
    ['x-forwarded-user', 'root'],
    ['X_Forwarded_For', '1.1.1.1'],
    ['Forwarded', 'for=1.1.1.1'],
    ['X-Berth-External-User-Id', 'root'],
    ['x-berth-anything', 'x'],
    ['X-Berth_External-User_Id', 'root'],
    ['X-Request-Id', 'mine'],
    ['Connection', 'X-Own'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Connection', 'close'],
    ['TE', 'gzip'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'x'],
    ['Authorization', 'Bearer mk_x'],
    ['authorization', 'bearer  eu_x'],
    ['Authorization', 'Bearer at_x'],
    ['Cookie', 'berth_app=sealed'],
    ['Cookie', ' __Host-berth_app=sealed ; berth_app=x'],
  ])('do not include %s: %s', (name, value) => {
    expect(headersFor([name, value])).toBe(headersFor([]));
  });

  it('do not include headers that Connection names, except the headers that identify the request', () => {
    const listed = ['Connection', 'close, X-Own , cookie', 'connection', 'content-length,Host,x-request-id'];
    const kept = headersFor(
      [...listed, 'x-own', 'a', 'Host', 'app.test', 'Content-Length', '3', 'Cookie', 'a=1'],
      {
        method: 'POST',
      },
    );
    expect(kept).toMatch(/^Host: app\.test\nContent-Length: 3\nCookie: a=1\nX-Request-Id: req_1\n/);
  });

  it('include credentials and cookies of the app itself', () => {
    for (const value of ['Basic bWtfeDp4', 'Bearer mine', 'Bearer mkx', 'Digest eu_x'])
      expect(headersFor(['Authorization', value])).toContain(`Authorization: ${value}\n`);
    expect(headersFor(['Cookie', 'a=1; berth_app=sealed; b=berth_app'])).toContain(
      'Cookie: a=1; b=berth_app\n',
    );
    expect(headersFor(['Cookie', 'a=1;  b="x; y"'])).toContain('Cookie: a=1;  b="x; y"\n');
  });

  it('name the end user, if the caller is one', () => {
    const facts = { ...FACTS, externalUserId: 'ada@example' };
    expect(headersFor(['X-Berth-External-User-Id', 'root'], { facts })).toContain(
      'X-Berth-External-User-Id: ada@example\n',
    );
    expect(headersFor(['X-Berth-External-User-Id', 'root'], { facts })).not.toContain('root');
  });

  it.each([
    ['POST', [], 'Content-Length: 0\n'],
    ['PUT', [], 'Content-Length: 0\n'],
    ['GET', [], ''],
    ['DELETE', [], ''],
    ['POST', ['Content-Length', '5'], 'Content-Length: 5\n'],
    [
      'POST',
      ['Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum'],
      'Transfer-Encoding: chunked\nTrailer: X-Sum\n',
    ],
    ['GET', ['TE', 'trailers'], 'TE: trailers\n'],
  ])('of a %s with %j announce exactly its body: %j', (method, headers, announced) => {
    const own = headersFor(headers, { method });
    expect(own.slice(0, own.indexOf('X-Request-Id'))).toBe(announced);
  });
});

describe('an Authorization header', () => {
  it.each([
    ['Bearer mk_x', true],
    ['BEARER eu_', true],
    ['Bearer\t eu_x', true],
    ['Bearer at_x y', true],
    ['Bearer mkx_', false],
    ['Basic mk_x', false],
    ['mk_x', false],
    ['', false],
  ])('%j is ours: %s', (value, isOurs) => expect(isOurAuthorization(value)).toBe(isOurs));
});
