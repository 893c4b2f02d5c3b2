import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { agentsRequests } from '@berth/contracts/agents';
import { eventually, sendBodyLate } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const TIMEOUT_MS = 1_000;
const MAX_CONNECTIONS = 20;

let test: TestGateway;
let key: string;
let clients: Client[] = [];

beforeAll(async () => {
  test = await startTestGateway(undefined, { clientTimeoutMs: TIMEOUT_MS, maxConnections: MAX_CONNECTIONS });
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  key = test.services.key();
});
afterEach(() => {
  for (const { socket } of clients) socket.destroy();
  clients = [];
});

/** A client that never closes its side on its own. */
interface Client {
  readonly socket: Socket;
  text(): string;
}

const dial = async (): Promise<Client> => {
  const socket = connect({
    port: Number(new URL(test.gateway.url).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  const client = { socket, text: () => text };
  clients.push(client);
  await once(socket, 'connect');
  return client;
};

/** Resolves when the server has closed the connection: a half-closed socket still accepts bytes. */
const untilDestroyed = async ({ socket }: Client, more = '\r\n'): Promise<void> => {
  const timer = setInterval(() => socket.write(more), 100);
  // Not `once` of node:events: the reset that is waited for is an error to it.
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
};

const send = async (bytes: string): Promise<Client> => {
  const client = await dial();
  client.socket.write(bytes);
  return client;
};

const HEAD = (path = '/api/agents', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;

describe('a connection without a complete request', () => {
  it.each([
    ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    [
      'a refused upgrade',
      'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    [
      'an upgrade without its announced body',
      'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\n',
    ],
    ['a tunnel without its announced body', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n'],
    ['no HTTP', 'BLURB\r\n\r\n'],
    ['an unknown expectation', 'POST /api/agents HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n'],
  ])('of %s may be reset, and the gateway keeps serving', async (_what, bytes) => {
    const { socket } = await send(bytes);
    socket.resetAndDestroy();
    const late = await send(bytes);
    await once(late.socket, 'data');
    late.socket.write('more');
    late.socket.resetAndDestroy();
    expect((await test.call('GET', '/openapi.json')).status).toBe(200);
  });

  it('is closed after any partial input, even if the client stays', async () => {
    const upgrade = 'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const moments: readonly (readonly [what: string, bytes: string, more: string, status: string])[] = [
      ['nothing', '', '', '408'],
      ['line breaks only', '\r\n', '\r\n', '408'],
      ['half a request line', 'GET /op', '', '408'],
      ['headers without end', 'GET / HTTP/1.1\r\n', 'A: b\r\n', '408'],
      ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 'x', '405'],
      ['no HTTP', 'BLURB\r\n\r\n', 'x', '400'],
      ['a refused upgrade', upgrade, 'x', '404'],
      ['half a body', `${HEAD('/api/agents', 'POST')}Content-Length: 9\r\n\r\n{`, '', '408'],
      ['half a chunk', `${HEAD('/api/agents', 'POST')}Transfer-Encoding: chunked\r\n\r\n9\r\n{`, '', '408'],
      ['half an unwanted body', 'POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', '', '404'],
    ];
    const seen = await Promise.all(
      moments.map(async ([what, bytes, more]) => {
        const client = await send(bytes);
        const timer = setInterval(() => client.socket.write(more), 100);
        if (!client.socket.readableEnded) await new Promise((resolve) => client.socket.once('end', resolve));
        clearInterval(timer);
        await untilDestroyed(client, 'x');
        return [what, client.text().split(' ')[1]];
      }),
    );
    expect(seen).toEqual(moments.map(([what, , , status]) => [what, status]));
  });

  it('is closed in favour of others when there are too many', async () => {
    const silent = await Promise.all(Array.from({ length: 3 * MAX_CONNECTIONS }, dial));
    expect((await test.call('GET', '/openapi.json')).status).toBe(200);
    await Promise.all(silent.slice(0, 2 * MAX_CONNECTIONS).map((client) => untilDestroyed(client)));
  });
});

describe('a client that does not read its response', () => {
  it('is disconnected, and one with a slow response is not', async () => {
    const slow = Promise.withResolvers<void>();
    const agent = anAgent();
    test.services.on(agentsRequests.start, async () => {
      await slow.promise;
      return { agent, settled: true };
    });
    const received = test.call('POST', `/api/agents/${agent.id}/start`, { key });
    const client = await dial();
    client.socket.pause();
    const since = performance.now();
    client.socket.write(`${HEAD('/openapi.json')}\r\n`.repeat(500));
    await untilDestroyed(client, '\r\n');
    expect(performance.now() - since).toBeGreaterThan(TIMEOUT_MS);
    slow.resolve();
    expect((await received).status).toBe(200);
  });
});

describe('pipelined requests', () => {
  it('get their responses in order, up to the malformed one', async () => {
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: null }));
    const client = await send(
      `${HEAD()}\r\n${HEAD('/nope')}\r\n${HEAD()}X-Last: 1\r\nConnection: close\r\n\r\n`,
    );
    await once(client.socket, 'end');
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it.each([
    [
      'an upgrade',
      `GET /nope HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
      '404',
    ],
    ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', '405'],
  ])('that end with %s get their responses in order', async (_what, last, status) => {
    const slow = Promise.withResolvers<void>();
    test.services.on(agentsRequests.list, async () => {
      await slow.promise;
      return { items: [], nextCursor: null };
    });
    const client = await send(`${HEAD()}\r\n${HEAD('/openapi.json', 'HEAD')}\r\n${last}`);
    await eventually(() => test.services.requestsTo(agentsRequests.list).length === 1);
    slow.resolve();
    await once(client.socket, 'end');
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      `HTTP/1.1 ${status}`,
    ]);
  });

  it('that are malformed do not get the response of the one before', async () => {
    const slow = Promise.withResolvers<void>();
    test.services.on(agentsRequests.list, async () => {
      await slow.promise;
      return { items: [], nextCursor: null };
    });
    const client = await send(`${HEAD()}\r\n`);
    client.socket.write('BLURB\r\n\r\n');
    const listed = once(client.socket, 'data');
    setImmediate(() => slow.resolve());
    await listed;
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 /);
    if (!client.socket.readableEnded) await once(client.socket, 'end');
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});

describe('a client that sends its body after the response', () => {
  it.each([
    ['401', 'POST /api/agents HTTP/1.1\r\nHost: x\r\n'],
    ['404', 'POST /nope HTTP/1.1\r\nHost: x\r\n'],
    ['413', ''],
  ])('reads the whole %s', async (status, anonymous) => {
    const line = anonymous || HEAD('/api/agents', 'POST');
    const { text, error } = await sendBodyLate(
      { port: Number(new URL(test.gateway.url).port), host: '127.0.0.1' },
      `${line}Content-Length: 3000000\r\nConnection: close\r\n\r\n`,
      Buffer.alloc(3_000_000),
    );
    expect(error).toBeUndefined();
    expect(readRaw(text).head).toContain(`http/1.1 ${status}`);
  });
});

describe('a request that is not valid HTTP/1.1', () => {
  it.each([
    [
      'two different Transfer-Encodings',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
    ],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'Transfer-Encoding together with Content-Length',
      'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n',
    ],
    ['two different lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['a coding besides chunks', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
  ])('%s is 400, and the connection is closed', async (_what, rest) => {
    const client = await send(`${HEAD('/api/agents', 'POST')}${rest}`);
    await once(client.socket, 'end');
    const { head, body } = readRaw(client.text());
    expect(head).toContain('http/1.1 400');
    expect(body.detail?.code).toBe('invalid_request');
  });

  it('HTTP/1.0 is served without Host, and closed after the response', async () => {
    const client = await send('GET /openapi.json HTTP/1.0\r\n\r\n');
    await once(client.socket, 'end');
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
