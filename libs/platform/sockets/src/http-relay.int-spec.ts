import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GuardedServer } from './guarded-server.js';
import { onExchange, relayHttp, type RelayRules } from './http-relay.js';

const LISTEN = { host: '127.0.0.1', port: 0, url: undefined };
const BOUNDS = { most: 10, idleMs: 60_000, stalledMs: 60_000 };

let next: Server;
let hop: GuardedServer;
let url: string;

/** Starts a hop to a server with these listeners; `failed` gets the errors of its relay. */
const start = async (
  listeners: Parameters<typeof createServer>[1],
  rules: (port: number) => RelayRules,
  failed: unknown[] = [],
): Promise<void> => {
  next = createServer(listeners);
  await once(next.listen(0, '127.0.0.1'), 'listening');
  const { port } = next.address() as AddressInfo;
  hop = new GuardedServer({}, BOUNDS, (server) =>
    onExchange(server, (exchange) =>
      relayHttp(exchange, rules(port)).catch((error: unknown) => {
        failed.push(error);
        exchange.response.writeHead(502).end();
      }),
    ),
  );
  url = await hop.listen(LISTEN);
};

afterEach(async () => {
  vi.useRealTimers();
  await hop.close();
  next.closeAllConnections();
  next.close();
});

const to =
  (port: number): RelayRules['send'] =>
  ({ method, headers }) =>
    httpRequest({ host: '127.0.0.1', port, method, headers, agent: false });

const ask = async (method: string, body?: string): Promise<{ status: number | undefined; text: string }> => {
  const headers = body === undefined ? {} : { 'content-length': body.length };
  const sent = httpRequest(url, { method, headers, agent: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
};

describe('a forwarded request', () => {
  it('is sent once more, with its whole body, if the next server has certainly not seen it', async () => {
    let at = 0;
    const free = (port: number): RelayRules => ({
      find: async (isAgain) => {
        at = isAgain ? port : 1;
      },
      send: (onward) => to(at)(onward),
    });
    await start((request, response) => void request.pipe(response), free);
    expect(await ask('POST', 'hello')).toEqual({ status: 200, text: 'hello' });
  });

  it('is sent once if the next server may have seen it', async () => {
    let seen = 0;
    await start(
      (request) => {
        seen += 1;
        request.socket.destroy();
      },
      (port) => ({ send: to(port) }),
    );
    for (const [method, body] of [['POST', 'x'], ['GET']] as const)
      expect((await ask(method, body)).status).toBe(502);
    expect(seen).toBe(2);
  });

  it('may use a kept connection exactly if it can be repeated and has no body', async () => {
    const reused: string[] = [];
    const agent = new Agent({ keepAlive: true });
    await start(
      (request, response) => void request.resume().on('end', () => response.end()),
      (port) => ({
        send: ({ method, headers, mayReuse }) => {
          if (mayReuse) reused.push(method);
          return httpRequest({ host: '127.0.0.1', port, method, headers, agent: mayReuse ? agent : false });
        },
      }),
    );
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE']) await ask(method);
    for (const method of ['GET', 'OPTIONS']) await ask(method, 'x');
    agent.destroy();
    expect(reused).toEqual(['GET', 'HEAD', 'OPTIONS']);
  });

  it('may be refused before its body was read, and its connection serves the next one', async () => {
    const refuse: Parameters<typeof createServer>[1] = ({ method }, response) =>
      response.writeHead(method === 'POST' ? 413 : 200, { 'content-length': 0 }).end();
    await start(refuse, (port) => ({ send: to(port) }));
    const bytes = 16_000_000;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(bytes)}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  it('fails if the next server does not accept its connection within 5 s, twice', async () => {
    const failed: unknown[] = [];
    let attempts = 0;
    await start(
      () => undefined,
      () => ({
        send: ({ method, headers }) => {
          attempts += 1;
          const silent = Object.defineProperty(new Socket(), 'connecting', { value: true });
          const sent = httpRequest({ createConnection: () => silent, method, headers });
          sent.once('socket', () => setImmediate(() => vi.advanceTimersByTime(5_000)));
          return sent;
        },
      }),
      failed,
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect((await ask('POST', 'x')).status).toBe(502);
    expect(attempts).toBe(2);
    expect(failed).toMatchObject([{ code: 'EHOSTUNREACH' }]);
  });
});

describe('a forwarded response', () => {
  it('may announce trailers although it has no content', async () => {
    await start(
      ({ socket }) => socket.write('HTTP/1.1 304 Not Modified\r\nTrailer: X-Sum\r\n\r\n'),
      (port) => ({ send: to(port) }),
    );
    expect((await ask('GET')).status).toBe(304);
  });

  describe('that outlives its caller', () => {
    /** A caller that hangs up after `body`; returns the response of the next server, which is not ended. */
    const leave = async (body: string, idleMs: number | null = null): Promise<ServerResponse> => {
      const arrived = Promise.withResolvers<ServerResponse>();
      await start(
        (request, response) => {
          request.resume().on('error', () => undefined);
          response.write('begun');
          arrived.resolve(response);
        },
        (port) => ({ send: to(port), outlivesCaller: true, idleMs }),
      );
      const sent = httpRequest(url, { method: 'POST', headers: { 'content-length': 4 }, agent: false });
      sent.on('error', () => undefined).flushHeaders();
      sent.write(body);
      const response = await arrived.promise;
      if (body.length === 4) await once(sent, 'response');
      sent.destroy();
      return response;
    };

    it('goes on to the end of its response, however long that is', async () => {
      const response = await leave('full');
      const finished = once(response, 'finish');
      const more = Buffer.alloc(1 << 20);
      for (let chunks = 0; chunks < 16; chunks++) if (!response.write(more)) await once(response, 'drain');
      response.end();
      await finished;
    });

    it('ends with its caller while the request is not complete', async () => {
      const response = await leave('ha');
      await once(response, 'close');
      expect(response.writableFinished).toBe(false);
    });

    it('ends when the next server stalls', async () => {
      const response = await leave('full', 200);
      await once(response, 'close');
      expect(response.writableFinished).toBe(false);
    });
  });
});
