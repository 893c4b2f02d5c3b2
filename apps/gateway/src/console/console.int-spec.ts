import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { accountsRequests } from '@berth/contracts/accounts';
import { execRequests } from '@berth/contracts/exec';
import { DomainError } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type Body, type TestGateway } from '../fixtures/gateway.fixture.js';

const agent = anAgent();
let test: TestGateway;
let host: Server;
let sockets: WebSocketServer;
let key: string;
let address: string;
/** The errors that the host returns for the next requests, in order. */
let refusals: { readonly kind: string; readonly code: string }[];
let agentSides: WebSocket[];

beforeAll(async () => {
  test = await startTestGateway();
  host = createServer();
  sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  host.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      const body = JSON.stringify({ error: { ...refusal, message: 'm', context: {} } });
      socket.end(`HTTP/1.1 422 No\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
      return;
    }
    expect(request.headers.authorization).toBe('Bearer secret');
    sockets.handleUpgrade(request, socket, head, (side) => {
      agentSides.push(side);
      side.send(Buffer.from('prompt$ '));
    });
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
  test.services.agents.set(agent.id, agent);
  refusals = [];
  agentSides = [];
  key = test.services.key(['read', 'deploy']);
  address = `${test.gateway.url.replace('http://localhost', 'ws://127.0.0.1')}/api/agents/${agent.id}/console`;
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v1/transfer`;
  test.services.on(execRequests.openConsole, () => ({ url, ticket: 'secret', epoch: 4 }));
});

const dial = (
  query = '',
  headers: Record<string, string> = { authorization: `Bearer ${key}` },
): WebSocket => {
  const socket = new WebSocket(address + query, { headers });
  socket.on('error', () => undefined);
  return socket;
};

const open = async (): Promise<{ client: WebSocket; side: WebSocket; closed: Promise<unknown[]> }> => {
  const client = dial();
  const prompt = once(client, 'message');
  const [data, isBinary] = (await prompt) as [Buffer, boolean];
  expect([data.toString(), isBinary]).toEqual(['prompt$ ', true]);
  const side = agentSides.at(-1);
  if (side === undefined) throw new Error('No client dialled the host.');
  return { client, side, closed: once(client, 'close') };
};

const refused = async (socket: WebSocket): Promise<readonly [number | undefined, Body]> => {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return [response.statusCode, JSON.parse(Buffer.concat(chunks).toString()) as Body];
};

describe('a console', () => {
  it('passes frames unchanged in both directions, from the first byte on', async () => {
    const { client, side } = await open();
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    const binary = once(side, 'message');
    client.send(bytes);
    expect(await binary).toEqual([bytes, true]);
    const text = once(side, 'message');
    client.send('{"type":"resize","cols":9,"rows":9}');
    expect(await text).toEqual([Buffer.from('{"type":"resize","cols":9,"rows":9}'), false]);
    const back = once(client, 'message');
    side.send(bytes);
    expect(await back).toEqual([bytes, true]);
    client.close();
  });

  it('is opened with the requested size, or 80 by 24', async () => {
    dial('?cols=120&rows=40').once('open', function (this: WebSocket) {
      this.close();
    });
    const { client } = await open();
    client.close();
    const sizes = test.services
      .requestsTo(execRequests.openConsole)
      .map(({ payload }) => [payload['cols'], payload['rows']]);
    expect(sizes).toEqual(
      expect.arrayContaining([
        [120, 40],
        [80, 24],
      ]),
    );
  });

  it('closes the agent side when the client closes or vanishes', async () => {
    for (const leave of ['close', 'terminate'] as const) {
      const { client, side } = await open();
      const ended = once(side, 'close');
      client[leave]();
      expect(await ended).toHaveLength(2);
    }
  });

  it('closes with the code of the agent, and with 1011 when the agent is gone', async () => {
    const first = await open();
    first.side.close(1000, 'The shell ended with 0.');
    expect(String((await first.closed)[0])).toBe('1000');
    const second = await open();
    second.side.terminate();
    expect(String((await second.closed)[0])).toBe('1011');
  });

  it('closes within 5 s of a revocation', async () => {
    const { closed } = await open();
    const since = performance.now();
    test.services.revoke(key);
    expect((await closed)[0]).toBe(1008);
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('stays open while credentials cannot be looked up, and closes within 5 s of a revocation once they can', async () => {
    const { client, closed } = await open();
    test.services.on(accountsRequests.authenticate, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'Postgres is unavailable.');
    });
    const before = test.services.requestsTo(accountsRequests.authenticate).length;
    await eventually(() => test.services.requestsTo(accountsRequests.authenticate).length >= before + 2, {
      timeoutMs: 10_000,
    });
    expect(client.readyState).toBe(WebSocket.OPEN);
    test.services.reset();
    const since = performance.now();
    test.services.revoke(key);
    expect((await closed)[0]).toBe(1008);
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('gets a new ticket when the agent fell asleep before the first was used', async () => {
    refusals = [
      { kind: 'conflict', code: 'stale_epoch' },
      { kind: 'unauthenticated', code: 'ticket_unknown' },
    ];
    const { client } = await open();
    client.close();
    const refusedEpochs = test.services
      .requestsTo(execRequests.openConsole)
      .map(({ payload }) => payload['refusedEpoch']);
    expect(refusedEpochs).toEqual([null, 4, 4]);
  });
});

describe('a console that is refused', () => {
  it.each([
    ['no credential', {}, 401, 'unauthenticated'],
    ['a key without the scope', { authorization: '' }, 403, 'missing_scope'],
  ])('with %s is refused like any request', async (_who, headers, status, code) => {
    const own = 'authorization' in headers ? { authorization: `Bearer ${test.services.key(['read'])}` } : {};
    const [receivedStatus, body] = await refused(dial('', own));
    expect([receivedStatus, body.detail?.code]).toEqual([status, code]);
  });

  it.each([`?token=mk_${'a'.repeat(43)}`, '?token=x'])(
    '%s is 401, even next to a valid key',
    async (query) => {
      const [status, body] = await refused(dial(query));
      expect([status, body.detail?.code]).toEqual([401, 'unauthenticated']);
    },
  );

  it('is 400 for an invalid size', async () => {
    for (const query of ['?cols=0', '?rows=1001', '?cols=x']) {
      expect((await refused(dial(query)))[0]).toBe(400);
    }
  });

  it("carries the code of the agent's state", async () => {
    test.services.on(execRequests.openConsole, () => {
      throw new DomainError('conflict', 'agent_stopped', 'Start it.');
    });
    const [status, body] = await refused(dial());
    expect([status, body.detail?.code]).toEqual([409, 'agent_stopped']);
  });

  it('carries the code of the host, and is 503 if the host does not respond', async () => {
    refusals = [{ kind: 'exhausted', code: 'too_many_consoles' }];
    const [status, body] = await refused(dial());
    expect([status, body.detail?.code]).toEqual([429, 'too_many_consoles']);
    test.services.on(execRequests.openConsole, () => ({ url: 'http://127.0.0.1:9/', ticket: 'x', epoch: 1 }));
    expect((await refused(dial()))[0]).toBe(503);
  });

  it('is 426 for a request without a WebSocket handshake', async () => {
    test.services.agents.set(agent.id, agent);
    const { status, body, headers } = await test.call('GET', `/api/agents/${agent.id}/console`, { key });
    expect([status, body.detail?.code, headers.get('upgrade')]).toEqual([
      426,
      'upgrade_required',
      'websocket',
    ]);
  });
});

describe('another upgrade', () => {
  const ask = (upgrade: string, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1', () =>
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`,
        ),
      );
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });

  it.each([
    ['h2c', '/health'],
    ['websocket', '/health'],
  ])('%s of %s gets a plain response, as if it requested no upgrade', async (upgrade, path) => {
    expect(await ask(upgrade, path)).toMatch(/^HTTP\/1\.1 (200|503) [^]*"dependencies"/);
  });

  it('of an unknown path is 404 in the format of the API', async () => {
    expect(await ask('websocket', '/nope')).toMatch(/^HTTP\/1\.1 404 [^]*"code":"not_found"/);
  });
});
