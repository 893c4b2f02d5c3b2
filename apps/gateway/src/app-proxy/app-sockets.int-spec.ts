import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { APP_AGENT, APP_HOST, AppGateway } from '../fixtures/app-gateway.fixture.js';

const app = AppGateway.forTests();

describe('a WebSocket of an app', () => {
  const handshake = (more: readonly string[] = [], path = '/socket'): readonly string[] => [
    `GET ${path} HTTP/1.1`,
    `Host: ${APP_HOST}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  ];
  const open = (lines: readonly string[], early = ''): Socket => {
    const socket = connect(Number(new URL(app().test.gateway.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${lines.join('\r\n')}\r\n\r\n${early}`);
    return socket;
  };
  const own = (): string => `Authorization: Bearer ${app().key}`;
  const AGREED =
    'HTTP/1.1 101 Fine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nSet-Cookie: a=1; Domain=localhost\r\nX-Own: y\r\n\r\n';

  it('passes the handshake and then every byte in both directions', async () => {
    const next = app().host.nextSocket();
    const client = open(handshake([own(), 'Sec-WebSocket-Protocol: a, b', 'X-Berth-Admin: 1']), 'early');
    const { request, socket } = await next;
    expect(request).toMatchObject({
      url: '/socket',
      headers: { upgrade: 'websocket', 'sec-websocket-protocol': 'a, b', 'sec-websocket-version': '13' },
    });
    expect(request.headers).not.toHaveProperty('authorization');
    expect(request.headers).not.toHaveProperty('x-berth-admin');
    const early = once(socket, 'data');
    socket.write(`${AGREED}hello`);
    expect(String((await early)[0])).toBe('early');
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually(() => text.endsWith('hello'));
    expect(text).toContain('Sec-WebSocket-Accept: x');
    expect(text).toContain('X-Own: y');
    expect(text).not.toContain('Domain=localhost');
    client.write('there');
    expect(String((await once(socket, 'data'))[0])).toBe('there');
    const ended = once(client, 'close');
    socket.end('last');
    await ended;
    expect(text.endsWith('last')).toBe(true);
  });

  it('takes the token of an end user from its address, of which the app sees the rest', async () => {
    const token = app().test.services.token(['app'], APP_AGENT);
    const next = app().host.nextSocket();
    const client = open(handshake(['Authorization: Basic bWluZQ=='], `/socket?a=%20b&token=${token}&c`));
    const { request, socket } = await next;
    expect(request.url).toBe('/socket?a=%20b&c');
    expect(request.headers).toMatchObject({
      'x-berth-external-user-id': 'ada',
      authorization: 'Basic bWluZQ==',
    });
    expect(request.rawHeaders.join(' ')).not.toContain(token);
    socket.write(AGREED);
    expect(String((await once(client, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
    const since = performance.now();
    app().test.services.revoke(token);
    await once(client.resume(), 'close');
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('is refused by the app itself with an ordinary response', async () => {
    app().host.respond = (_request, response) => response.end('not reached');
    const next = app().host.nextSocket();
    const client = open(handshake([own()]));
    const { socket } = await next;
    socket.end('HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nbad');
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(client, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 403 No\r\n[\s\S]*bad$/);
  });

  it.each<[string, () => readonly string[], RegExp]>([
    ['without a credential', () => handshake(), /^HTTP\/1\.1 401 /],
    ['with an unknown token', () => handshake([], '/?token=eu_x'), /^HTTP\/1\.1 401 /],
    ['with a token in its address and a key', () => handshake([own()], '/?token=eu_x'), /^HTTP\/1\.1 401 /],
    ['with a key in its address', () => handshake([], `/?token=${app().key}`), /^HTTP\/1\.1 401 /],
    [
      'with two tokens',
      () => {
        const token = app().test.services.token(['app'], APP_AGENT);
        return handshake([], `/?token=${token}&token=${token}`);
      },
      /^HTTP\/1\.1 401 /,
    ],
    [
      'with a token under another name',
      () => handshake([], `/?access=${app().test.services.token(['app'], APP_AGENT)}`),
      /^HTTP\/1\.1 401 /,
    ],
    [
      'with a token that has not the scope app',
      () => handshake([], `/?token=${app().test.services.token(['chat'], APP_AGENT)}`),
      /^HTTP\/1\.1 403 /,
    ],
    [
      'at a path that is for Berth only',
      () => handshake([], `/schedules?token=${app().test.services.token(['app'], APP_AGENT)}`),
      /^HTTP\/1\.1 404 /,
    ],
    ['with a forged cookie', () => handshake(['Cookie: berth_app=k1.AAAA']), /^HTTP\/1\.1 401 /],
  ])('is not opened %s', async (_how, lines, answer) => {
    const client = open(lines());
    expect(String((await once(client, 'data'))[0])).toMatch(answer);
    client.destroy();
    expect(app().host.opened).toBe(0);
  });

  it('ends for the app when its client leaves', async () => {
    const next = app().host.nextSocket();
    const client = open(handshake([own()]));
    const { socket } = await next;
    socket.write(AGREED);
    await once(client, 'data');
    const ended = once(socket.resume(), 'end');
    client.destroy();
    await ended;
  });

  it('closes within 5 s of the revocation of its key', async () => {
    const next = app().host.nextSocket();
    const client = open(handshake([own()]));
    const { socket } = await next;
    socket.write(AGREED);
    await once(client, 'data');
    const since = performance.now();
    app().test.services.revoke(app().key);
    await once(client.resume(), 'close');
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});
