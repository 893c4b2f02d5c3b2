import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeHttpFramings, eventually, RequestRecorder } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askSocket, FakeApi, textOf, type BegunResponse } from '../__fixtures__/api.fixture.js';
import { quietLog } from '../__fixtures__/host.fixture.js';
import type { ApiSocket } from './api-socket.js';
import { ApiSockets } from './api-sockets.js';

const STRANGER = 61_235;

let root: string;
let api: FakeApi;
let sockets: ApiSockets;
let opened: ApiSocket[];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'berth-api-'));
  api = await new FakeApi().listen();
  sockets = new ApiSockets({ gatewayUrl: api.url }, quietLog);
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((socket) => socket.close()));
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

/** Opens the socket of an agent, in a folder as a host makes it. */
const open = async (name = 'run', from = sockets): Promise<{ path: string; socket: ApiSocket }> => {
  const folder = join(root, name);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const socket = await from.open(folder);
  opened.push(socket);
  return { path: join(folder, 'api.sock'), socket };
};

const refusalIn = async ({ body }: BegunResponse): Promise<unknown> =>
  JSON.parse(await textOf(body)) as unknown;

/** Collects the requests that the API leaves open. */
const holdRequests = (): { request: IncomingMessage; response: ServerResponse }[] => {
  const held: { request: IncomingMessage; response: ServerResponse }[] = [];
  api.respond = (incoming, response) => {
    held.push({ request: incoming, response });
    response.write('begun');
  };
  return held;
};

describe('the API on the socket of an agent', () => {
  let recorder: RequestRecorder;
  let path: string;
  beforeEach(async () => {
    recorder = new RequestRecorder();
    ({ path } = await open('framed'));
  });
  describeHttpFramings(() => {
    api.respond = recorder.respond;
    const head = (method: string): string[] => [`${method} /agent/v1/self HTTP/1.1`, 'Host: x'];
    return { target: { path }, recorder, head };
  });

  it('gets requests as the program has sent them, and its responses arrive as they are', async () => {
    api.respond = (incoming, response) => {
      const { host, authorization, connection, 'x-once': listed } = incoming.headers;
      response.writeHead(402, { 'x-seen': JSON.stringify([host, authorization, connection, listed]) });
      incoming.pipe(response);
    };
    const { path } = await open();
    const { status, body } = await askSocket(path, '/agent/v1/llm/x?a=%20b', {
      method: 'POST',
      body: 'hello',
      headers: { authorization: 'Bearer t', host: 'elsewhere', connection: 'x-once, close', 'x-once': '1' },
    });
    expect(status).toBe(402);
    expect(JSON.parse(String(body.headers['x-seen']))).toEqual([
      new URL(api.url).host,
      'Bearer t',
      'keep-alive',
      null,
    ]);
    expect(await textOf(body)).toBe('hello');
    expect(api.seen).toEqual(['POST /agent/v1/llm/x?a=%20b']);
  });

  it.each([
    '/api/agents',
    '/agent/v10',
    '/agent/v1/../../api/agents',
    '//agent/v1',
    '/agent/v1/%2e%2e/%2e%2e/api',
    '*',
  ])('does not get requests for anything but agents (%s)', async (target) => {
    const { path } = await open();
    const refused = await askSocket(path, target, { method: 'OPTIONS' });
    expect(refused.status).toBe(404);
    expect(await refusalIn(refused)).toMatchObject({ detail: { code: 'not_found' } });
    expect(api.seen).toEqual([]);
  });

  it('that is away is an error in the shape of its own, until it is back', async () => {
    const { path } = await open();
    await api.close();
    const refused = await askSocket(path, '/agent/v1/self', { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect([refused.status, refused.body.headers['retry-after']]).toEqual([503, '1']);
    expect(await refusalIn(refused)).toMatchObject({ detail: { code: 'service_unavailable' } });
    await api.listen();
    expect((await askSocket(path, '/agent/v1/self')).status).toBe(200);
  });

  it('does not get a request that servers could read in two ways, and the error is in the shape of its own', async () => {
    const headers = { 'transfer-encoding': 'gzip, chunked', 'x-request-id': 'mine' };
    const refused = await askSocket(path, '/agent/v1/self', { method: 'POST', body: 'x', headers });
    expect([refused.status, refused.body.headers['x-request-id'], refused.body.headers.connection]).toEqual([
      400,
      'mine',
      'close',
    ]);
    const fields = [{ path: 'Transfer-Encoding', message: 'must be chunked' }];
    expect(await refusalIn(refused)).toMatchObject({ detail: { code: 'invalid_request', fields } });
    expect(api.seen).toEqual([]);
  });

  it('that the host does not know is the same error', async () => {
    const { path } = await open('unknown', new ApiSockets({ gatewayUrl: null }, quietLog));
    const refused = await askSocket(path, '/agent/v1/self');
    expect(refused.status).toBe(503);
    expect(await refusalIn(refused)).toMatchObject({ detail: { code: 'service_unavailable' } });
  });

  it('gets a body while it is being sent, and its response arrives while it is', async () => {
    api.respond = (incoming, response) => void incoming.pipe(response);
    const { path } = await open();
    const sent = request({ socketPath: path, path: '/agent/v1/llm/x', method: 'POST', agent: false });
    sent.write('one');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(String((await once(response, 'data'))[0])).toBe('one');
    sent.write('two');
    expect(String((await once(response, 'data'))[0])).toBe('two');
    sent.end();
    await once(response, 'end');
  });

  it('that refuses a body before it has read it is heard', async () => {
    api.respond = (_incoming, response) => void response.writeHead(413).end('too large');
    const { path } = await open();
    const { status, body } = await askSocket(path, '/agent/v1/llm/x', {
      method: 'POST',
      body: 'x'.repeat(5_000_000),
    });
    expect([status, await textOf(body)]).toEqual([413, 'too large']);
  });

  it('learns that a program has hung up, before its response and in the middle of it', async () => {
    const held = holdRequests();
    const { path } = await open();
    const controller = new AbortController();
    await askSocket(path, '/agent/v1/llm/x', { signal: controller.signal });
    const silent = connect(path).on('error', () => undefined);
    silent.write('POST /agent/v1/llm/y HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhal');
    await eventually(() => expect(held).toHaveLength(2));
    controller.abort();
    silent.destroy();
    await eventually(() => held.every(({ response }) => response.destroyed));
  });

  it('that breaks off does not look like the end of its response', async () => {
    const held = holdRequests();
    const { path } = await open();
    const { body } = await askSocket(path, '/agent/v1/llm/x');
    held[0]?.response.destroy();
    await expect(textOf(body)).rejects.toThrow();
  });

  it('serves 100 requests at once', async () => {
    const held = holdRequests();
    const { path } = await open();
    const replies = Promise.all(
      Array.from({ length: 100 }, async (_, at) =>
        textOf((await askSocket(path, `/agent/v1/llm/${at}`)).body),
      ),
    );
    await eventually(() => expect(held).toHaveLength(100));
    for (const {
      request: { url },
      response,
    } of held)
      response.end(` ${url ?? ''}`);
    expect(await replies).toEqual(Array.from({ length: 100 }, (_, at) => `begun /agent/v1/llm/${at}`));
  });

  it('serves others while one agent has all connections open that it may have', async () => {
    holdRequests();
    const [greedy, modest] = [await open('greedy'), await open('modest')];
    const lost: unknown[] = [];
    for (let count = 0; count < 300; count++)
      void askSocket(greedy.path, '/agent/v1/llm/x').catch((error: unknown) => lost.push(error));
    await eventually(() => expect([api.seen.length, lost.length]).toEqual([256, 44]));
    expect((await askSocket(modest.path, '/agent/v1/self')).status).toBe(200);
  });
});

describe('the socket itself', () => {
  it('may have a path that is longer than the kernel permits', async () => {
    const { path, socket } = await open('x'.repeat(150));
    const address = `/proc/self/cwd/api.sock`;
    const ask = `require('node:http').get({ socketPath: '${address}', path: '/agent/v1/self' }, (r) => r.pipe(process.stdout))`;
    expect(await runIn(join(path, '..'), ask)).toBe('the API');
    await socket.close();
    expect(existsSync(path)).toBe(false);
  });

  it('replaces the socket that a killed host has left, and is removed at the end', async () => {
    const folder = join(root, 'run');
    mkdirSync(folder, { mode: 0o700 });
    const listening = `require('node:net').createServer().listen('${folder}/api.sock', () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', listening]);
    expect(lstatSync(join(folder, 'api.sock')).isSocket()).toBe(true);
    const { path, socket } = await open();
    expect((await askSocket(path, '/agent/v1/self')).status).toBe(200);
    await socket.close();
    expect(existsSync(path)).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)(
    'belongs to the owner of its folder, and no other user can connect to it',
    async () => {
      const folder = join(root, 'run');
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, 61_234, 61_234);
      chownSync(root, 61_234, 61_234);
      const { path } = await open();
      const attempt = `require('node:http').get({ socketPath: '${path}', path: '/agent/v1/self' }, (r) => r.pipe(process.stdout)).on('error', ({ code }) => console.log(code))`;
      const as = (uid: number): string =>
        `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid}); ${attempt}`;
      expect(await runIn('/', as(61_234))).toBe('the API');
      expect(await runIn('/', as(STRANGER))).toBe('EACCES\n');
    },
  );
});

describe('an agent that rests', () => {
  it('has its requests sent when it wakes', async () => {
    const { path, socket } = await open();
    socket.rest();
    const reply = askSocket(path, '/agent/v1/self');
    const other = await open('other');
    expect((await askSocket(other.path, '/agent/v1/other')).status).toBe(200);
    expect(api.seen).toEqual(['GET /agent/v1/other']);
    socket.wake(() => undefined);
    expect((await reply).status).toBe(200);
  });

  it('loses its requests when it ends, and nothing is sent', async () => {
    const { path, socket } = await open();
    socket.rest();
    const lost = expect(askSocket(path, '/agent/v1/self')).rejects.toThrow();
    const other = await open('other');
    expect((await askSocket(other.path, '/agent/v1/other')).status).toBe(200);
    await socket.close();
    await lost;
    expect((await askSocket(other.path, '/agent/v1/other')).status).toBe(200);
    expect(api.seen).not.toContain('GET /agent/v1/self');
  });
});

describe('an LLM call', () => {
  it('holds its agent awake from its first byte to its last, or until either side hangs up', async () => {
    const held = holdRequests();
    const { path, socket } = await open();
    const holds: { over: boolean }[] = [];
    const hold = (over: Promise<void>): void => {
      const one = { over: false };
      holds.push(one);
      void over.then(() => (one.over = true));
    };
    await askSocket(path, '/agent/v1/llm/before');
    socket.wake(hold);
    const ended = await askSocket(path, '/agent/v1/llm/ended');
    const controller = new AbortController();
    await askSocket(path, '/agent/v1/llm/left', { signal: controller.signal });
    await askSocket(path, '/agent/v1/llm/lost');
    await askSocket(path, '/agent/v1/self');
    expect(holds).toEqual(Array.from({ length: 4 }, () => ({ over: false })));
    held[1]?.response.end();
    expect(await textOf(ended.body)).toBe('begun');
    controller.abort();
    held[3]?.response.destroy();
    await eventually(() => expect(holds.map(({ over }) => over)).toEqual([false, true, true, true]));
    held[0]?.response.end();
    await eventually(() => expect(holds[0]).toEqual({ over: true }));
  });

  it('that began in a rest holds its agent from its wake on', async () => {
    const held = holdRequests();
    const { path, socket } = await open();
    socket.wake(() => undefined);
    await askSocket(path, '/agent/v1/llm/x');
    socket.rest();
    let holds = 0;
    void askSocket(path, '/agent/v1/llm/y');
    socket.wake(() => void holds++);
    expect(holds).toBe(1);
    await eventually(() => expect([holds, held.length]).toEqual([2, 2]));
  });
});

/** What a program of Node prints that runs in a folder. */
const runIn = async (cwd: string, program: string): Promise<string> => {
  const child = spawn(process.execPath, ['-e', program], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  return textOf(child.stdout);
};
