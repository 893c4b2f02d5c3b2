import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { agentsRequests } from '@berth/contracts/agents';
import { filesRequests } from '@berth/contracts/files';
import { DomainError, newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, startTestGateway, type Body, type TestGateway } from '../fixtures/gateway.fixture.js';

const ERROR_LEVEL = 50;
const GOOD = '{"name":"scout","templateId":"echo"}';
let test: TestGateway;
let key: string;
let logged: string[] = [];
let clients: Socket[] = [];

beforeAll(async () => {
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLogger({ service: 'gateway', level: 'trace', destination });
  test = await startTestGateway(log, { clientTimeoutMs: 1_000 });
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
  logged = [];
  key = test.services.key();
});
afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
});

const send = (bytes: string): { readonly socket: Socket; text(): string } => {
  const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
  clients.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  socket.write(bytes);
  return { socket, text: () => text };
};

/** Everything received until the gateway closes. */
const exchange = async (bytes: string): Promise<{ readonly head: string; readonly body: Body }> => {
  const { socket, text } = send(bytes);
  await once(socket, 'end');
  return readRaw(text());
};

const post = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

const EXPECT = 'Expect: 100-continue';

const bearer = (): string => `Authorization: Bearer ${key}`;

describe('broken percent-encoding in the path', () => {
  const codes = async (method: string, path: string, own?: string): Promise<readonly unknown[]> => {
    const { status, body } = await test.call(method, path, own === undefined ? {} : { key: own });
    return [status, body.detail?.code];
  };

  it.each(['%zz', '%', '%E0%A4%A', 'a%f'])('%s is 401 first, then 403, then 400', async (id) => {
    expect(await codes('GET', `/api/agents/${id}`)).toEqual([401, 'unauthenticated']);
    const reader = test.services.key(['read']);
    expect(await codes('POST', `/api/agents/${id}/start`, reader)).toEqual([403, 'missing_scope']);
    expect(await codes('GET', `/api/agents/${id}`, key)).toEqual([400, 'invalid_request']);
    expect(await codes('PATCH', `/api/agents/${id}`)).toEqual([405, 'method_not_allowed']);
    expect(await codes('GET', `/api/nothing/${id}`)).toEqual([400, 'invalid_request']);
  });

  it('does not change the meaning of valid encoding', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    expect((await test.call('GET', `/api/agents/%61${agent.id.slice(1)}`, { key })).status).toBe(200);
    expect(await codes('GET', '/api/agents/%2525', key)).toEqual([404, 'agent_not_found']);
  });
});

describe('a target in absolute form', () => {
  it.each(['http://elsewhere', 'HTTP://x:1'])('%s is served by its path', async (origin) => {
    const { head } = await exchange(
      `GET ${origin}/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(head).toContain('http/1.1 200');
  });

  it('is limited to the methods of its path', async () => {
    const { head, body } = await exchange(
      'PUT http://x/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(head).toContain('http/1.1 405');
    expect(body.detail?.code).toBe('method_not_allowed');
  });
});

describe('a Host header', () => {
  const ask = async (host: string): Promise<{ readonly head: string; readonly body: Body }> =>
    exchange(`GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  it.each([
    'a b/<>',
    'a b',
    'x/y',
    'user@x',
    'x:y',
    'x:1:2',
    '[::1',
    '::1',
    '[::1]x',
    '[zz]',
    'a%zz',
    'x, y',
    'a"b',
    'a\\b',
    '',
  ])('%j is 400', async (host) => {
    const { head, body } = await ask(host);
    expect(head).toContain('http/1.1 400');
    expect(body.detail?.fields?.[0]?.path).toBe('Host');
  });

  it.each([
    'x',
    'localhost:8080',
    'x:',
    '127.0.0.1:1',
    '[::1]:80',
    '[v1.a:b]',
    'a-b.example',
    'a_b~c',
    "!$&'()*+,;=",
    'a%20b',
  ])('%j is accepted', async (host) => expect((await ask(host)).head).toContain('http/1.1 200'));
});

describe('Expect: 100-continue', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const length = (bytes: number): string => `Content-Length: ${bytes}`;

  it('is granted to a valid request with a JSON body', async () => {
    const { socket, text } = send(post('/api/agents', bearer(), length(GOOD.length), EXPECT));
    await once(socket, 'data');
    expect(text()).toBe(CONTINUE);
    socket.write(GOOD);
    await once(socket, 'data');
    expect(text()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });

  it('is not granted by 401, 403, 404, 405, 413, 415 or 417', async () => {
    const reader = `Authorization: Bearer ${test.services.key(['read'])}`;
    const refusals = [
      [post('/api/agents', length(9), EXPECT), '401'],
      [post('/api/agents', reader, length(9), EXPECT), '403'],
      [post(`/api/agents/${newId('agt')}x/chat`, bearer(), length(9), EXPECT), '404'],
      [post('/api/nothing', bearer(), length(9), EXPECT), '404'],
      [post('/health', bearer(), length(9), EXPECT), '405'],
      [post('/api/agents', bearer(), length(1_048_577), EXPECT), '413'],
      [post('/api/agents', bearer(), length(9), EXPECT).replace('application/json', 'text/plain'), '415'],
      [post('/api/agents', bearer(), length(9), 'Content-Encoding: gzip', EXPECT), '415'],
      [post('/api/agents', bearer(), length(9), 'Expect: tea'), '417'],
    ] as const;
    for (const [request, status] of refusals) {
      const { head, body } = await exchange(request);
      expect(head).toMatch(new RegExp(`^http/1.1 ${status} `));
      expect(head).toContain('connection: close');
      expect(body.detail).toMatchObject({ code: expect.any(String) });
    }
  });

  it('is granted to a streamed body once its headers have passed', async () => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    test.services.on(filesRequests.openStage, () => {
      throw new DomainError('conflict', 'agent_stopped', 'Start it.');
    });
    const path = `/api/agents/${agent.id}/files/write`;
    const put = (...headers: readonly string[]): string =>
      post(path, ...headers, EXPECT).replace('POST', 'PUT');
    expect((await exchange(put(length(9)))).head).toMatch(/^http\/1\.1 401 /);
    expect((await exchange(put(bearer(), length(900_000_000)))).head).toMatch(/^http\/1\.1 413 /);
    const body = JSON.stringify({ path: 'a', content: 'b' });
    const { socket, text } = send(put(bearer(), length(body.length)));
    await once(socket, 'data');
    expect(text()).toBe(CONTINUE);
    socket.write(body);
    await once(socket, 'data');
    expect(text()).toContain('409');
  });

  it('is ignored in HTTP/1.0', async () => {
    const request = post('/api/agents', bearer(), length(GOOD.length), EXPECT).replace(
      'HTTP/1.1',
      'HTTP/1.0',
    );
    expect((await exchange(request + GOOD)).head).toMatch(/^http\/1\.1 201 /);
  });
});

describe('the log', () => {
  const faults = (): readonly string[] =>
    logged.filter(
      (line) => (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL || line.includes('stack'),
    );

  const lineOf = (text: string): Promise<unknown> =>
    eventually(() => expect(logged.filter((line) => line.includes(text))).toHaveLength(1));

  const write = (path: string): string => post(path, bearer(), 'Content-Length: 90', EXPECT);

  it.each([
    ['a body with a length', '{"na', () => write('/api/agents')],
    [
      'a chunked body',
      '9\r\n{"na',
      () => post('/api/agents', bearer(), 'Transfer-Encoding: chunked', EXPECT),
    ],
    [
      'a streamed body',
      '{"pa',
      () => write(`/api/agents/${newId('agt')}/files/write`).replace('POST', 'PUT'),
    ],
  ])(
    'logs one line without a stack for a client that disconnects in the middle of %s',
    async (_what, beginning, head) => {
      const { socket } = send(head());
      // From now on the gateway reads the body. While it looks up the key, it notices nothing.
      await once(socket, 'data');
      socket.write(beginning);
      socket.resetAndDestroy();
      await lineOf('hung up');
      expect(faults()).toEqual([]);
    },
  );

  it('contains no error for a body that did not arrive in time', async () => {
    const { head } = await exchange(post('/api/agents', bearer(), 'Content-Length: 90') + '{"na');
    expect(head).toContain('http/1.1 408');
    await lineOf('did not arrive in time');
    expect(faults()).toEqual([]);
  });

  it('contains no error for a client that leaves before its response', async () => {
    const slow = Promise.withResolvers<void>();
    test.services.on(agentsRequests.list, async () => {
      await slow.promise;
      return { items: [], nextCursor: null };
    });
    const { socket } = send(`GET /api/agents HTTP/1.1\r\nHost: x\r\n${bearer()}\r\n\r\n`);
    await eventually(() => test.services.requestsTo(agentsRequests.list).length === 1);
    socket.resetAndDestroy();
    await once(socket, 'close');
    slow.resolve();
    await test.call('GET', '/openapi.json');
    expect(faults()).toEqual([]);
  });

  it('still contains the stack of an internal failure', async () => {
    test.services.on(agentsRequests.list, () => {
      throw new Error('broken');
    });
    expect((await test.call('GET', '/api/agents', { key })).status).toBe(500);
    await eventually(() => faults().length > 0);
  });
});
