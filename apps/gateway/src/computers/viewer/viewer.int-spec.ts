import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { computersRequests } from '@berth/contracts/computers';
import { DomainError, newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startTestGateway, type Body, type TestGateway } from '../../fixtures/gateway.fixture.js';
import { aComputer } from '../../fixtures/test-services.fixture.js';
import { ViewerHost } from '../../fixtures/viewer-host.fixture.js';
import { TestViewerSessions } from '../../fixtures/viewer-sessions.fixture.js';
import type { OpenedViewer } from './opened-viewer.js';

const computer = aComputer();
const path = `/api/v1/computers/${computer.id}/viewer`;
const APPS_HOST = 'apps.test';
let host: ViewerHost;
/** With a port of its own for viewers, and with a host name for them. */
let byPort: TestGateway;
let byName: TestGateway;
let logged: string[] = [];

beforeAll(async () => {
  host = await ViewerHost.start();
  const destination = { write: (line: string) => void logged.push(line) };
  byPort = await startTestGateway(createLogger({ service: 'gateway', level: 'trace', destination }));
  byName = await startTestGateway(undefined, { appsHost: APPS_HOST, publicUrl: 'https://berth.test' });
});
afterAll(async () => {
  await byPort.stop();
  await byName.stop();
  host.stop();
});

let test: TestGateway;
let sessions: TestViewerSessions;
let key: string;
/** The host's sides of the viewers that have connected. */
let sides: WebSocket[];

const use = (gateway: TestGateway): void => {
  test = gateway;
  test.services.reset();
  test.services.computers.set(computer.id, computer);
  sessions = new TestViewerSessions(test.services, host);
  sessions.serve();
  key = test.services.key(['read', 'computers']);
  sides = [];
  host.refusals = [];
  host.serve = (side) => {
    sides.push(side);
    side.send(Buffer.from('RFB 003.008\n'));
  };
};
beforeEach(() => use(byPort));

const openViewer = async (json: object = {}): Promise<OpenedViewer> => {
  const { status, text } = await test.call('POST', path, { key, json });
  expect(status, text).toBe(201);
  return JSON.parse(text) as OpenedViewer;
};

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Requests a URL of the viewer's origin from the gateway, wherever its name leads. */
const get = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Got> => {
  const { host: named, port, pathname } = new URL(url);
  const at = test === byName ? new URL(test.gateway.url).port : port;
  const request = httpRequest({
    host: '127.0.0.1',
    port: at,
    path: pathname,
    method,
    headers: { host: named, ...headers },
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
};

const dial = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  protocols: string[] = ['binary'],
): WebSocket => {
  const { host: named, port, pathname } = new URL(url);
  const at = test === byName ? new URL(test.gateway.url).port : port;
  const socket = new WebSocket(`ws://127.0.0.1:${at}${pathname}`, protocols, {
    headers: { host: named, ...headers },
  });
  socket.on('error', () => undefined);
  return socket;
};

/** Opens a socket, and waits for the first frame of the host. */
const open = async (
  url: string,
): Promise<{ client: WebSocket; side: WebSocket; closed: Promise<unknown[]> }> => {
  const client = dial(url);
  const closed = once(client, 'close');
  const [data, isBinary] = (await once(client, 'message')) as [Buffer, boolean];
  expect([data.toString(), isBinary]).toEqual(['RFB 003.008\n', true]);
  const side = sides.at(-1);
  if (side === undefined) throw new Error('Nobody dialled the host.');
  return { client, side, closed };
};

const refusalTo = async (socket: WebSocket): Promise<readonly unknown[]> => {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(await textOf(response)) as Body;
  return [response.statusCode, body.detail?.code];
};

const ended = () =>
  test.services.requestsTo(computersRequests.endViewer).map(({ payload }) => payload['sessionId']);

describe('POST …/viewer', () => {
  it('returns a session whose page and socket are on a port of their own, and sends the service only a hash', async () => {
    const { sessionId, url, socketUrl, ...rest } = await openViewer({
      mode: 'control',
      ttlSeconds: 30,
      takeover: true,
    });
    expect(sessionId).toMatch(/^vws_/);
    expect(url).toMatch(/^http:\/\/localhost:\d+\/v\/[\w-]{43}\/$/);
    expect(new URL(url).port).not.toBe(new URL(test.gateway.url).port);
    expect(socketUrl).toBe(`${url.replace('http', 'ws')}socket`);
    expect(rest).toMatchObject({ mode: 'control', takeover: true });
    const secret = url.split('/').at(-2) ?? '';
    expect(JSON.stringify(test.services.received)).not.toContain(secret);
  });

  it('views for 900 s by default', async () => {
    await openViewer();
    expect(test.services.requestsTo(computersRequests.openViewer)[0]?.payload).toMatchObject({
      mode: 'view',
      ttlSeconds: 900,
      takeover: false,
    });
  });

  it.each([{ takeover: true }, { mode: 'view', takeover: true }])(
    'is 400 for %j: only who controls takes over',
    async (json) => {
      const { status, body } = await test.call('POST', path, { key, json });
      expect([status, body.detail?.fields?.map((field) => field.path)]).toEqual([400, ['takeover']]);
    },
  );

  it('returns the same URL under an Idempotency-Key, and 409 once the session is over', async () => {
    const headers = { 'idempotency-key': newId('cmd') };
    const first = await test.call('POST', path, { key, json: {}, headers });
    const again = await test.call('POST', path, { key, json: {}, headers });
    expect([again.status, again.text]).toEqual([201, first.text]);
    sessions.end(String(first.body['sessionId']));
    const late = await test.call('POST', path, { key, json: {}, headers });
    expect([late.status, late.body.detail?.code]).toEqual([409, 'idempotency_answer_gone']);
  });

  it('returns a URL that works when the first response was lost', async () => {
    const headers = { 'idempotency-key': newId('cmd') };
    let secretHash: string | undefined;
    test.services.on(computersRequests.openViewer, (command) => {
      secretHash = command.secretHash;
      throw new DomainError('unavailable', 'service_unavailable', 'Gone.', {}, { effect: 'unknown' });
    });
    expect((await test.call('POST', path, { key, json: {}, headers })).status).toBe(503);
    sessions.serve();
    expect((await test.call('POST', path, { key, json: {}, headers })).status).toBe(201);
    const hashes = test.services
      .requestsTo(computersRequests.openViewer)
      .map(({ payload }) => payload['secretHash']);
    expect(new Set(hashes)).toEqual(new Set([secretHash]));
  });
});

describe("a viewer's page", () => {
  it('loads any number of times, runs only its own scripts, and may be embedded by pages of the API alone', async () => {
    const { url } = await openViewer();
    for (let load = 0; load < 3; load++) {
      const { status, headers, text } = await get(url);
      expect([status, text.startsWith('<!doctype html>')]).toEqual([200, true]);
      const port = new URL(test.gateway.url).port;
      expect(headers['content-security-policy']).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      );
      expect(headers['content-security-policy']).toContain(
        `frame-ancestors http://localhost:${port} http://127.0.0.1:${port}`,
      );
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect(headers['x-frame-options']).toBeUndefined();
      expect(text).not.toMatch(/<script(?![^>]* src=)/);
    }
    const head = await get(url, {}, 'HEAD');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('finds its files, those of noVNC included', async () => {
    const { url } = await openViewer();
    const { text } = await get(url);
    const files = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
    for (const file of [
      ...files,
      '/assets/novnc/core/rfb.js',
      '/assets/novnc/vendor/pako/lib/zlib/inflate.js',
    ])
      expect([file, (await get(new URL(file, url).href)).status]).toEqual([file, 200]);
    expect((await get(new URL('/assets/novnc/package.json', url).href)).status).toBe(404);
  });

  it('reads the state of its session', async () => {
    const { url, sessionId } = await openViewer();
    expect(JSON.parse((await get(`${url}session`)).text)).toMatchObject({
      sessionId,
      mode: 'view',
      status: 'waiting',
    });
    sessions.end(sessionId);
    expect([(await get(url)).status, (await get(`${url}session`)).status]).toEqual([404, 404]);
  });

  it('is 404 once the key that opened the session is revoked', async () => {
    const { url } = await openViewer();
    test.services.revoke(key);
    expect((await get(url)).status).toBe(404);
  });

  it('leaves no trace of its secret in the log', async () => {
    const { url, socketUrl } = await openViewer();
    const secret = url.split('/').at(-2) ?? '';
    logged = [];
    for (const path of ['', 'session', 'socket', 'unknown']) await get(url + path);
    const { client, closed } = await open(socketUrl);
    client.close();
    await closed;
    expect(await refusalTo(dial(socketUrl))).toEqual([403, 'session_used']);
    await eventually(() => expect(logged.filter((line) => line.includes('"path":"viewer"'))).toHaveLength(5));
    expect(logged.join('')).not.toContain(secret);
  });

  it('shares its origin with no route of the API', async () => {
    const { url } = await openViewer();
    const { status, text } = await get(new URL('/health', url).href);
    expect([status, text]).toMatchObject([404, expect.stringContaining('not_found')]);
    expect((await test.call('GET', new URL(url).pathname)).status).toBe(404);
    expect((await get(url, {}, 'POST')).status).toBe(405);
  });
});

describe("a viewer's socket", () => {
  it('passes frames unchanged in both directions, with the subprotocol binary', async () => {
    const { socketUrl } = await openViewer();
    const { client, side } = await open(socketUrl);
    expect(client.protocol).toBe('binary');
    const bytes = Buffer.from([0, 255, 128]);
    const received = once(side, 'message');
    client.send(bytes);
    expect(await received).toEqual([bytes, true]);
    client.close();
  });

  it('needs no subprotocol, but no other', async () => {
    const { socketUrl } = await openViewer();
    expect(await refusalTo(dial(socketUrl, {}, ['text']))).toEqual([400, 'invalid_request']);
    const socket = dial(socketUrl, {}, []);
    await once(socket, 'message');
    expect(socket.protocol).toBe('');
    socket.close();
  });

  it('uses the session up: another one is 403 while it is open and after it has closed', async () => {
    const { socketUrl, sessionId } = await openViewer();
    const { client, closed } = await open(socketUrl);
    expect(await refusalTo(dial(socketUrl))).toEqual([403, 'session_used']);
    client.close();
    await closed;
    await eventually(() => expect(ended()).toContain(sessionId));
    expect(await refusalTo(dial(socketUrl))).toEqual([403, 'session_used']);
  });

  it('is opened once by many at the same time', async () => {
    const { socketUrl, sessionId } = await openViewer();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => {
        const socket = dial(socketUrl);
        return Promise.race([
          once(socket, 'message').then(() => 'open'),
          refusalTo(socket).then(([status]) => String(status)),
        ]);
      }),
    );
    expect(outcomes.sort()).toEqual([...Array.from({ length: 19 }, () => '403'), 'open']);
    expect(ended()).not.toContain(sessionId);
    sides.at(-1)?.close(1000);
  });

  it('is 403 for a page of another origin, and for one whose key is revoked', async () => {
    const { url, socketUrl } = await openViewer();
    for (const origin of ['https://evil.test', new URL(test.gateway.url).origin, 'null'])
      expect(await refusalTo(dial(socketUrl, { origin }))).toEqual([403, 'foreign_origin']);
    const own = dial(socketUrl, { origin: new URL(url).origin });
    await once(own, 'message');
    own.close();
    const second = await openViewer();
    test.services.revoke(key);
    expect(await refusalTo(dial(second.socketUrl))).toEqual([403, 'session_used']);
  });

  it('gets a new ticket under the same command when the computer fell asleep before the first was used', async () => {
    host.refusals = [{ kind: 'conflict', code: 'stale_epoch' }];
    const { socketUrl } = await openViewer();
    const { client } = await open(socketUrl);
    client.close();
    const requests = test.services.requestsTo(computersRequests.connectViewer).map(({ payload }) => payload);
    expect(requests.map((request) => request['refusedEpoch'])).toEqual([null, 4]);
    expect(new Set(requests.map((request) => request['commandId'])).size).toBe(1);
  });

  it('ends the session when the host cannot be reached', async () => {
    const { socketUrl, sessionId } = await openViewer();
    test.services.on(computersRequests.connectViewer, () => ({
      url: 'http://127.0.0.1:9/',
      ticket: 'x',
      epoch: 1,
    }));
    expect(await refusalTo(dial(socketUrl))).toEqual([503, 'computer_unavailable']);
    await eventually(() => expect(ended()).toContain(sessionId));
  });

  it('closes with the code of the host, and with 1011 when the computer is gone', async () => {
    const first = await open((await openViewer()).socketUrl);
    first.side.close(1001, 'The computer sleeps.');
    expect((await first.closed)[0]).toBe(1001);
    const second = await open((await openViewer()).socketUrl);
    second.side.terminate();
    expect((await second.closed)[0]).toBe(1011);
  });

  it('closes with 1000 at the end of the session, and with 1008 within 5 s of a revocation of the key', async () => {
    sessions.lifetimeMs = 1_500;
    const brief = await open((await openViewer()).socketUrl);
    expect((await brief.closed)[0]).toBe(1000);
    sessions.lifetimeMs = undefined;
    const { closed } = await open((await openViewer()).socketUrl);
    const since = performance.now();
    test.services.revoke(key);
    expect((await closed)[0]).toBe(1008);
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('is 426 without a handshake', async () => {
    const { url } = await openViewer();
    expect((await get(`${url}socket`)).status).toBe(426);
  });
});

describe('a viewer with a host name below BERTH_APPS_HOST', () => {
  beforeEach(() => use(byName));

  it('is at `viewer`, which is no app, on the port of the gateway', async () => {
    const { url, socketUrl } = await openViewer();
    expect(url).toMatch(/^https:\/\/viewer\.apps\.test\/v\/[\w-]{43}\/$/);
    expect(socketUrl).toMatch(/^wss:\/\/viewer\.apps\.test\/v\//);
    const { status, headers } = await get(url);
    expect([status, headers['content-security-policy']]).toEqual([
      200,
      expect.stringContaining('frame-ancestors https://berth.test'),
    ]);
    const { client } = await open(socketUrl);
    client.close();
  });

  it('accepts its own origin alone, whatever port a proxy has', async () => {
    const { socketUrl } = await openViewer();
    for (const origin of ['https://berth.test', 'https://apps.test', 'http://viewer.apps.test'])
      expect(await refusalTo(dial(socketUrl, { origin }))).toEqual([403, 'foreign_origin']);
    const own = dial(socketUrl, {
      host: `viewer.${APPS_HOST}:8443`,
      origin: `https://viewer.${APPS_HOST}:8443`,
    });
    await once(own, 'message');
    own.close();
  });
});
