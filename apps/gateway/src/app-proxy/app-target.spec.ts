import { describe, expect, it } from 'vitest';
import { authorityOf, hasOurSecret, isReserved, ownPathOf, parseTarget, takeToken } from './app-target.js';

describe('a target', () => {
  it.each([
    ['/a?b=1', '/a?b=1', undefined],
    ['http://App.Test:80/a', '/a', 'App.Test:80'],
    ['HTTPS://app.test', '/', 'app.test'],
    ['http://app.test?b=1', '/?b=1', 'app.test'],
    ['http://user@app.test/a', '/a', 'user@app.test'],
    ['//app.test/a', '//app.test/a', undefined],
    ['*', '*', undefined],
  ])('%s reaches the program as %s', (sent, target, authority) => {
    expect(parseTarget(sent)).toMatchObject({ target, authority });
    expect(authorityOf(sent)).toBe(authority);
  });
});

describe('a route of the program that is for Berth only', () => {
  it.each([
    '/chat',
    '/chat/',
    '/chat//',
    '//chat',
    '/./chat',
    '/x/../chat',
    '/../chat',
    '/chat?x=1',
    '/chat#x',
    '/chat/?x=1',
    '/%63hat',
    '/%43hat',
    '/%2563hat',
    '/chat%2F',
    '/%2Fchat',
    '/x%2F..%2Fchat',
    '/x/%2e%2e/chat',
    '/%2E/chat',
    '\\chat',
    '/\\chat',
    '/x\\..\\chat',
    '/%5Cchat',
    '/chat\\',
    '/CHAT',
    '//app.test/chat',
    '/\\app.test/chat',
    'http://app.test/chat',
    'http://app.test//chat',
    'http://app.test\\chat',
    'http://app.test/%ZZ/../chat',
    '/a%2Fb/../chat',
    '/a%252Fb/../%63hat',
    '/a%5Cb/../chat',
    '/a\\b/../chat',
    '//app.test/a%2Fb/../chat',
    '/a%2Fb/%2e%2e/chat',
    '/a%2Fb/.%2E/chat',
    '/chat//..',
    '/chat/x/..',
    '/x//../chat',
  ])('is meant by POST %s', (sent) => {
    expect(isReserved('POST', parseTarget(sent))).toBe(true);
    expect(isReserved('GET', parseTarget(sent))).toBe(false);
  });

  it.each(['/schedules', '/schedules/?x', '//a.test/schedules', '/%73chedules', '/a/../SCHEDULES'])(
    'is meant by GET and HEAD %s',
    (sent) => {
      for (const method of ['GET', 'HEAD']) expect(isReserved(method, parseTarget(sent))).toBe(true);
    },
  );

  it.each(['/', '/chats', '/chat/1', '/a/chat', '/chat.html', '/?chat', '/chat%20', '/%', '*', '/chat;x'])(
    'is not meant by POST %s',
    (sent) => expect(isReserved('POST', parseTarget(sent))).toBe(false),
  );

  it('is not meant by another method', () => {
    for (const method of ['GET', 'PUT', 'OPTIONS'])
      expect(isReserved(method, parseTarget('/chat'))).toBe(false);
    for (const method of ['POST', 'OPTIONS'])
      expect(isReserved(method, parseTarget('/schedules'))).toBe(false);
  });
});

describe('a path of Berth itself', () => {
  it.each([
    ['/.berth/enter?token=x', 'enter'],
    ['/.berth/enter', 'enter'],
    ['/.berth', 'unknown'],
    ['/.berth/', 'unknown'],
    ['/.berth/other', 'unknown'],
    ['/a/../.berth/x', 'unknown'],
    ['/%2eberth/x', 'unknown'],
    ['/a%2Fb/../.berth/enter', 'unknown'],
    ['/.berthed', undefined],
    ['/a/.berth', undefined],
  ])('%s is %s', (sent, own) => expect(ownPathOf(parseTarget(sent))).toBe(own));
});

describe('a credential of ours in a query', () => {
  const KEY = `mk_${'a'.repeat(50)}`;

  it.each([
    '?token=mk_x',
    '?token=eu_x',
    '?token=at_x',
    '?token=wh_x',
    '?token=',
    '?%74oken=eu_x',
    '?token=e%75_x',
    '?token=mine&token=eu_x',
    `?a=${KEY}`,
  ])('is found in %s', (query) => {
    expect(hasOurSecret(parseTarget(`/a${query}`))).toBe(query !== '?token=');
  });

  it.each(['?token=mine', '?token=Bearer+eu_x', '?tokens=eu_x', '?a=mk_robot', '#token=eu_x'])(
    'is not found in %s',
    (query) => expect(hasOurSecret(parseTarget(`/a${query}`))).toBe(false),
  );
});

describe('the token that a target carries', () => {
  it.each([
    ['/a?token=eu_x', '/a'],
    ['/a?b=%20c&token=eu_x&&d', '/a?b=%20c&&d'],
    ['/a?%74oken=e%75_x&b=+', '/a?b=+'],
    ['/?token=eu_x#f?token=eu_x', '/#f?token=eu_x'],
    ['http://app.test?token=eu_x', '/'],
  ])('is not in the rest of it: %s', (sent, rest) => {
    expect(takeToken(parseTarget(sent))).toMatchObject({
      token: { kind: 'end_user' },
      rest: { target: rest, authority: authorityOf(sent) },
    });
  });

  it.each([
    '/a',
    '/a?token=mine',
    '/a?token=mk_x',
    '/a?token=wh_x',
    '/a?token=eu_x&token=eu_y',
    '/a?b=eu_x',
    '/a#?token=eu_x',
  ])('is none of an end user, or not one: %s', (sent) =>
    expect(takeToken(parseTarget(sent))).toBeUndefined(),
  );
});
