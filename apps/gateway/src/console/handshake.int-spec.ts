import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { execRequests } from '@berth/contracts/exec';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const agent = anAgent();
const SAMPLE_KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
let test: TestGateway;
let host: Server;
let hostUrl: string;
let sockets: WebSocketServer;
let key: string;
/** Shells that were opened at the host. */
let shells: WebSocket[];
/** The messages that the shells received. */
let received: string[];
/** `dialled` resolves when a dial has arrived at the host, which responds once `letIn` is resolved. */
let dialled: PromiseWithResolvers<void>;
let letIn: PromiseWithResolvers<void>;
let clients: Socket[] = [];

beforeAll(async () => {
  test = await startTestGateway();
  sockets = new WebSocketServer({ noServer: true });
  host = createServer();
  host.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    socket.on('error', () => undefined);
    dialled.resolve();
    void letIn.promise.then(() =>
      sockets.handleUpgrade(request, socket, head, (shell) => {
        shells.push(shell);
        shell.on('message', (data: Buffer) => received.push(data.toString()));
      }),
    );
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v1/transfer`;
});
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  test.services.agents.set(agent.id, agent);
  key = test.services.key(['read', 'deploy']);
  shells = [];
  received = [];
  dialled = Promise.withResolvers();
  letIn = Promise.withResolvers();
  letIn.resolve();
  test.services.on(execRequests.openConsole, () => ({ url: hostUrl, ticket: 'secret', epoch: 4 }));
});
afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
});

interface Handshake {
  readonly line?: string;
  /** Undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly more?: string;
}

const begin = ({ line, headers = {}, more = '' }: Handshake = {}): { socket: Socket; text: () => string } => {
  const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
  clients.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  const fields = {
    host: 'x',
    authorization: `Bearer ${key}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': SAMPLE_KEY,
    'x-request-id': 'mine-1',
    ...headers,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  const path = `/api/agents/${agent.id}/console`;
  socket.write([line ?? `GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n') + more, 'latin1');
  return { socket, text: () => text };
};

describe('a WebSocket handshake', () => {
  it.each<readonly [string, Handshake, number, string, string | undefined]>([
    [
      'without a version',
      { headers: { 'sec-websocket-version': undefined } },
      426,
      'upgrade_required',
      undefined,
    ],
    ['of version 8', { headers: { 'sec-websocket-version': '8' } }, 426, 'upgrade_required', undefined],
    [
      'without a key',
      { headers: { 'sec-websocket-key': undefined } },
      400,
      'invalid_request',
      'Sec-WebSocket-Key',
    ],
    [
      'with a short key',
      { headers: { 'sec-websocket-key': 'YWJj' } },
      400,
      'invalid_request',
      'Sec-WebSocket-Key',
    ],
    [
      'with a key that is not base64',
      { headers: { 'sec-websocket-key': `${'*'.repeat(22)}==` } },
      400,
      'invalid_request',
      'Sec-WebSocket-Key',
    ],
    [
      'with a broken subprotocol',
      { headers: { 'sec-websocket-protocol': 'a,,b' } },
      400,
      'invalid_request',
      'Sec-WebSocket-Protocol',
    ],
    [
      'with a subprotocol twice',
      { headers: { 'sec-websocket-protocol': 'a, a' } },
      400,
      'invalid_request',
      'Sec-WebSocket-Protocol',
    ],
    [
      'with a subprotocol next to a space that HTTP does not allow',
      { headers: { 'sec-websocket-protocol': 'a\u00a0' } },
      400,
      'invalid_request',
      'Sec-WebSocket-Protocol',
    ],
    [
      'with a body',
      { headers: { 'content-length': '2' }, more: 'ab' },
      400,
      'invalid_request',
      'Content-Length',
    ],
    [
      'in HTTP/1.0',
      { line: `GET /api/agents/${agent.id}/console HTTP/1.0` },
      426,
      'upgrade_required',
      undefined,
    ],
    ['for another protocol', { headers: { upgrade: 'chat' } }, 426, 'upgrade_required', undefined],
    ['without Connection: Upgrade', { headers: { connection: 'close' } }, 426, 'upgrade_required', undefined],
    [
      'by POST',
      { line: `POST /api/agents/${agent.id}/console HTTP/1.1` },
      405,
      'method_not_allowed',
      undefined,
    ],
  ])(
    '%s is refused with {detail}, before the agent is woken',
    async (_what, handshake, status, code, field) => {
      const { socket, text } = begin({
        ...handshake,
        headers: { connection: 'Upgrade, close', ...handshake.headers },
      });
      await once(socket, 'end');
      const { head, body } = readRaw(text());
      expect(head).toContain(`http/1.1 ${status}`);
      expect(head).toContain('content-type: application/json');
      expect(head).toContain('x-request-id: mine-1');
      expect([body.detail?.code, body.detail?.fields?.[0]?.path]).toEqual([code, field]);
      expect(test.services.requestsTo(execRequests.openConsole)).toEqual([]);
      if (status === 426) expect(head).toContain('sec-websocket-version: 13');
    },
  );

  it('that is valid gets 101, the accepted key and the request id', async () => {
    const { socket, text } = begin();
    await once(socket, 'data');
    expect(text()).toMatch(/^HTTP\/1\.1 101 /);
    expect(text()).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(text().toLowerCase()).toContain('x-request-id: mine-1');
  });

  it('loses nothing of what its client sends before the response', async () => {
    letIn = Promise.withResolvers();
    const { socket } = begin();
    await dialled.promise;
    socket.write(Buffer.from([0x82, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    letIn.resolve();
    await eventually(() => expect(received).toEqual(['hi']));
  });
});

describe('a client that leaves before the 101', () => {
  const leave: Readonly<Record<string, (socket: Socket) => void>> = {
    resets: (socket) => socket.resetAndDestroy(),
    closes: (socket) => socket.destroy(),
    'half-closes': (socket) => socket.end(),
  };

  it.each(Object.entries(leave))('and %s while the agent wakes opens no shell', async (_how, go) => {
    const woken = Promise.withResolvers<void>();
    test.services.on(execRequests.openConsole, async () => {
      await woken.promise;
      return { url: hostUrl, ticket: 'secret', epoch: 4 };
    });
    const { socket } = begin();
    await eventually(() => test.services.requestsTo(execRequests.openConsole).length === 1);
    go(socket);
    if (!socket.closed) await once(socket, 'close');
    woken.resolve();
    const again = begin();
    await once(again.socket, 'data');
    // The only shell belongs to the console that was opened later.
    await eventually(() => shells.filter((shell) => shell.readyState !== shell.CLOSED).length === 1);
    expect(shells.filter((shell) => shell.readyState === shell.CLOSED)).toEqual([]);
  });

  it.each(Object.entries(leave))(
    'and %s while the host responds leaves no shell behind',
    async (_how, go) => {
      letIn = Promise.withResolvers();
      const { socket } = begin();
      await dialled.promise;
      go(socket);
      if (!socket.closed) await once(socket, 'close');
      letIn.resolve();
      await eventually(
        () => sockets.clients.size === 0 && shells.every((shell) => shell.readyState === shell.CLOSED),
      );
    },
  );

  it('at any moment leaves no shell behind', async () => {
    for (let millis = 0; millis < 40; millis++) {
      const { socket } = begin();
      setTimeout(() => socket.resetAndDestroy(), millis / 2);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    await eventually(() => shells.every((shell) => shell.readyState === shell.CLOSED));
  });
});
