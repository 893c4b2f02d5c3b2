import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type ListenOptions, type NetConnectOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { eventually, sendBodyLate } from '@berth/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { endSocket } from './end-socket.js';
import { guardServer, type ConnectionBounds, type GuardedConnections } from './guard-server.js';
import { sentOf } from './sent-bytes.js';

const WIDE: ConnectionBounds = { most: 1_000, idleMs: 60_000, stalledMs: 60_000 };
const TCP: ListenOptions = { port: 0, host: '127.0.0.1' };
const ASK = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let guarded: GuardedConnections;
let clients: Socket[] = [];
/** Responses to `/held`, which the test sends at its own time. */
let held: ServerResponse[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const client of clients) client.destroy();
  clients = [];
  held = [];
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const start = async (
  bounds: Partial<ConnectionBounds>,
  prepare?: (server: Server) => void,
  address: ListenOptions = TCP,
): Promise<void> => {
  server = createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else if (request.url === '/large') response.end(Buffer.alloc(50_000_000));
    else response.end('here');
  });
  prepare?.(server);
  guarded = guardServer(server, { ...WIDE, ...bounds });
  await once(server.listen(address), 'listening');
};

const target = (): NetConnectOpts => {
  const address = server.address();
  return typeof address === 'string' ? { path: address } : { port: (address as AddressInfo).port };
};

const dial = async (): Promise<Socket> => {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
};

const ask = async (client: Socket, request = ASK): Promise<string> => {
  client.write(request);
  return String((await once(client, 'data'))[0]);
};

/** Opens a connection whose request the server holds. */
const occupy = async (): Promise<Socket> => {
  const client = await dial();
  const arrived = once(server, 'request');
  client.write(ASK.replace('/', '/held'));
  await arrived;
  return client;
};

describe('a guarded server', () => {
  it('survives the reset of a socket that Node has handed over and that has no listeners', async () => {
    const taken: Socket[] = [];
    await start({}, (one) => {
      one.on('connect', (_request, socket: Socket) => taken.push(socket));
      one.on('upgrade', (_request, socket: Socket) => taken.push(socket));
    });
    for (const request of [
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ]) {
      const client = await dial();
      client.write(request);
      await once(server, request.startsWith('C') ? 'connect' : 'upgrade');
      const socket = taken.pop();
      if (socket === undefined) throw new Error('The socket was not handed over.');
      const closed = once(socket, 'close').catch(() => undefined);
      client.resetAndDestroy();
      socket.write('too late');
      socket.resume();
      await closed;
    }
    expect(await ask(await dial())).toContain('here');
    expect(guarded.size).toBe(1);
  });

  it('survives the reset of a connection that requests an upgrade and has not sent its body', async () => {
    const taken: Duplex[] = [];
    await start({}, (one) => {
      for (const event of ['connect', 'upgrade'] as const) {
        one.on(event, (_request, stream: Duplex) => taken.push(stream));
      }
    });
    for (const request of [
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\n',
    ]) {
      const client = await dial();
      client.write(request);
      await once(server, request.startsWith('C') ? 'connect' : 'upgrade');
      const stream = taken.pop();
      if (stream === undefined) throw new Error('The connection was not handed over.');
      const closed = new Promise((resolve) => stream.once('close', resolve));
      client.resetAndDestroy();
      await closed;
    }
    expect(await ask(await dial())).toContain('here');
    expect(guarded.size).toBe(1);
  });

  it('closes the connection that has been idle for longest', async () => {
    await start({ most: 3 });
    const [first, second] = [await dial(), await dial()];
    expect(await ask(first)).toContain('here');
    const closed = once(second, 'close');
    const third = await dial();
    const fourth = await dial();
    await closed;
    for (const client of [first, third, fourth]) expect(await ask(client)).toContain('here');
    expect(guarded.size).toBe(3);
  });

  it('closes the new connection instead of one with a request in flight', async () => {
    await start({ most: 2 });
    const busy = [await occupy(), await occupy()];
    await once(await dial(), 'close');
    for (const [index, client] of busy.entries()) {
      held[index]?.end('late');
      expect(String((await once(client, 'data'))[0])).toContain('late');
    }
    expect(await ask(await dial())).toContain('here');
  });

  it('counts a connection with two requests once, until the last response', async () => {
    await start({ most: 1 });
    const client = await occupy();
    const arrived = once(server, 'request');
    client.write(ASK.replace('/', '/held'));
    await arrived;
    held[0]?.end('one');
    expect(String((await once(client, 'data'))[0])).toContain('one');
    await once(await dial(), 'close');
    held[1]?.end('two');
    expect(String((await once(client, 'data'))[0])).toContain('two');
  });

  it('closes a connection without a request, although it sends line breaks', async () => {
    await start({ idleMs: 500 });
    const client = await dial();
    expect(await ask(client)).toContain('here');
    const timer = setInterval(() => client.write('\r\n'), 50);
    await new Promise((resolve) => client.once('close', resolve));
    clearInterval(timer);
  });

  it('disconnects a client that accepts nothing of its response although it sends, but not one that waits for a response', async () => {
    await start({ stalledMs: 300 });
    const waiting = await occupy();
    const client = await dial();
    client.pause();
    const timer = setInterval(() => client.write('\r\n'), 50);
    const [socket] = (await Promise.all([
      once(server, 'request').then(([request]) => (request as { socket: Socket }).socket),
      client.write(ASK.replace('/', '/large')),
    ])) as [Socket, boolean];
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(timer);
    held[0]?.end('late');
    expect(String((await once(waiting, 'data'))[0])).toContain('late');
  });

  it.each(['a TCP port', 'a unix socket'])(
    'reads the rest of a body after its response, so that no reset overtakes the response (%s)',
    async (address) => {
      const folder = mkdtempSync(join(tmpdir(), 'berth-guard-'));
      await start({}, undefined, address === 'a TCP port' ? TCP : { path: join(folder, 'sock') });
      const head = 'PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n';
      const { text, error } = await sendBodyLate(target(), head, Buffer.alloc(100_000));
      expect(error).toBeUndefined();
      expect(text).toContain('here');
      rmSync(folder, { recursive: true });
    },
  );

  it('survives a handler that stops reading in the middle of a body and then responds', async () => {
    const UNREAD = Buffer.alloc(1_000_000);
    await start({}, (one) => {
      one.removeAllListeners('request');
      one.on('request', async (request: IncomingMessage, response: ServerResponse) => {
        // Leaving the loop destroys the request.
        for await (const chunk of request) if (chunk !== undefined) break;
        response.end('here');
      });
    });
    const client = await dial();
    const head = 'PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answered = ask(client, head);
    client.write(`${UNREAD.length.toString(16)}\r\n`);
    client.write(UNREAD);
    expect(await answered).toContain('here');
    expect(await ask(await dial())).toContain('here');
  });

  it('serves the next request of a connection whose last body was not read', async () => {
    await start({});
    const client = await dial();
    expect(await ask(client, `PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n`)).toContain(
      '200',
    );
    client.write(Buffer.alloc(3_000_000));
    expect(await ask(client, ASK.replace('x\r\n', 'x\r\nConnection: close\r\n'))).toContain('200');
    await new Promise((resolve) => client.once('close', resolve));
  });

  it('does not disconnect a client that reads a little of its response within each time limit', async () => {
    // The test advances the time of the server itself, so that a starved client cannot look like a stalled one.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const stalledMs = 300;
    await start({ stalledMs });
    const client = await dial();
    client.pause();
    let bytes = 0;
    client.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const ended = once(client, 'end');
    const asked = once(server, 'request') as Promise<[IncomingMessage]>;
    client.write(ASK.replace('/', '/large').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const [{ socket }] = await asked;
    let limits = 0;
    for (; socket.writableLength > 0; limits++) {
      const before = sentOf(socket);
      client.resume();
      await eventually(() => sentOf(socket) !== before, { intervalMs: 1 });
      client.pause();
      vi.advanceTimersByTime(stalledMs);
    }
    client.resume();
    await ended;
    expect(bytes).toBeGreaterThan(50_000_000);
    expect(limits).toBeGreaterThan(1);
  });
});

describe('a raw socket that ends', () => {
  it('delivers its last bytes to a client that is still sending, and closes soon after it', async () => {
    let ended: Promise<unknown> | undefined;
    await start({}, (one) =>
      one.on('connect', (_request, socket: Socket) => {
        ended = once(socket, 'close');
        endSocket(socket, 'HTTP/1.1 405 No\r\n\r\n');
      }),
    );
    const client = await dial();
    const since = performance.now();
    client.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    client.write(Buffer.alloc(1_000_000));
    const timer = setInterval(() => client.write('more'), 20);
    expect(String((await once(client, 'data'))[0])).toContain('405');
    await ended;
    clearInterval(timer);
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(guarded.size).toBe(0);
  });

  it('closes as soon as the client closes, before the wait is over', async () => {
    // Fake timers do not advance, so only the end of the client can close the socket.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    let ended: Promise<unknown> | undefined;
    await start({}, (one) =>
      one.on('connect', (_request, socket: Socket) => {
        ended = once(socket, 'close');
        endSocket(socket, 'bye');
        endSocket(socket, 'twice');
      }),
    );
    const client = await dial();
    expect(await ask(client, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('bye');
    client.end();
    await ended;
    expect(guarded.size).toBe(0);
  });
});
