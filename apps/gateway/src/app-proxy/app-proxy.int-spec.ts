import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { agentsRequests, type AgentView } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { describeHttpFramings, eventually, RequestRecorder } from '@berth/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { APP_AGENT, APP_HOST, AppGateway, type SentToApp } from '../fixtures/app-gateway.fixture.js';
import { refusalOf } from '../fixtures/app-host.fixture.js';
import { sendRaw } from '../fixtures/gateway.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';

const app = AppGateway.forTests();
const send = (sent?: SentToApp) => app().send(sent);
const begin = (sent?: SentToApp) => app().begin(sent);
const refusalTo = (sent: SentToApp) => app().refusalTo(sent);
const received = () => app().received();
const host = () => app().host;

const raw = (lines: readonly string[], body = ''): Promise<string> =>
  sendRaw(app().test.gateway.url, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);

describe('a request to an app', () => {
  let recorder: RequestRecorder;
  beforeEach(() => {
    recorder = new RequestRecorder();
    host().respond = recorder.respond;
  });
  describeHttpFramings(() => ({
    target: { port: app().port, host: '127.0.0.1' },
    recorder,
    head: (method) => [`${method} /a HTTP/1.1`, `Host: ${APP_HOST}`, `Authorization: Bearer ${app().key}`],
  }));
});

describe('the origin of an app', () => {
  it.each(['/health', '/openapi.json', '/docs', '/api/agents', '/agent/v1/self'])(
    'is never that of the API: %s is a path of the app',
    async (path) => {
      const seen = received();
      expect((await send({ path })).text).toBe('here');
      expect((await seen).url).toBe(path);
    },
  );

  it.each([APP_HOST.toUpperCase(), `${APP_HOST}:1234`, `${APP_HOST}.`])(
    'is recognised in Host: %s',
    async (name) => {
      expect((await send({ headers: { host: name } })).text).toBe('here');
    },
  );

  it.each(['apps.localhost', 'x.apps.localhost', `x.${APP_HOST}`])(
    '%s has neither an app nor the API',
    async (name) => {
      expect(await refusalTo({ headers: { host: name }, path: '/health' })).toEqual([404, 'agent_not_found']);
    },
  );

  it('is not reached through the origin of the API', async () => {
    const { response } = await send({ headers: { host: 'localhost' }, path: '/' });
    expect(response.statusCode).toBe(404);
    expect(app().test.services.requestsTo(agentsRequests.openApp)).toEqual([]);
  });
});

describe('the appUrl of an agent', () => {
  it('is its origin, and null without a program', async () => {
    const shown = async (members: Partial<AgentView>): Promise<unknown> => {
      const agent = anAgent({ id: APP_AGENT, ...members });
      app().test.services.agents.set(agent.id, agent);
      return (await app().test.call('GET', `/api/agents/${APP_AGENT}`, { key: app().key })).body['appUrl'];
    };
    expect(await shown({ templateId: 'echo' })).toBe(`http://${APP_HOST}:${String(app().port)}`);
    expect(await shown({ templateId: 'blank' })).toBeNull();
    // A deployed program takes the place of the template's.
    const source = { kind: 'git', repoUrl: 'https://github.com/a/b', branch: 'main', commit: 'c' } as const;
    expect(await shown({ templateId: 'blank', source })).toBe(`http://${APP_HOST}:${String(app().port)}`);
    app().test.services.on(agentsRequests.list, () => ({
      items: [anAgent({ id: APP_AGENT, templateId: 'echo' })],
      nextCursor: null,
    }));
    const { body } = await app().test.call('GET', '/api/agents', { key: app().key });
    expect(body['items']).toMatchObject([{ appUrl: `http://${APP_HOST}:${String(app().port)}` }]);
  });

  it('is reached', async () => {
    app().test.services.agents.set(APP_AGENT, anAgent({ id: APP_AGENT, templateId: 'echo' }));
    const { body } = await app().test.call('GET', `/api/agents/${APP_AGENT}`, { key: app().key });
    const url = new URL(String(body['appUrl']));
    expect((await send({ headers: { host: url.host } })).text).toBe('here');
  });
});

describe('the caller of an app', () => {
  it.each<[string, OutgoingHttpHeaders, string]>([
    ['no credential', { authorization: undefined }, '/'],
    ["a credential of the app's own", { authorization: 'Bearer mine' }, '/'],
    ['a malformed key', { authorization: 'Bearer mk_x' }, '/'],
    ['the token of an agent', { authorization: `Bearer at_${'a'.repeat(43)}` }, '/'],
    ['a forged cookie', { authorization: undefined, cookie: 'berth_app=k1.AAAA' }, '/'],
    ['a token in the query', {}, '/?token=eu_x'],
    ['a key in the query', {}, '/a?b=1&token=mk_x'],
    ['a key under another name in the query', {}, `/?a=mk_${'a'.repeat(50)}`],
  ])('is 401 with %s', async (_what, headers, path) => {
    expect(await refusalTo({ headers, path })).toEqual([401, 'unauthenticated']);
    expect(host().opened).toBe(0);
  });

  it('is 403 with a key without the scope deploy, and 404 for an agent of another account', async () => {
    const reader = `Bearer ${app().test.services.key(['read', 'manage'])}`;
    const forbidden = await send({ headers: { authorization: reader } });
    expect(forbidden.body.detail).toMatchObject({ code: 'missing_scope', requiredScope: 'deploy' });
    app().test.services.on(agentsRequests.openApp, () => {
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    });
    expect(await refusalTo({})).toEqual([404, 'agent_not_found']);
  });

  it.each([
    ['conflict', 'agent_deploying', 409],
    ['conflict', 'agent_stopped', 409],
    ['conflict', 'agent_failed', 409],
    ['forbidden', 'end_user_suspended', 403],
    ['payment_required', 'compute_cap_reached', 402],
    ['unavailable', 'agent_unavailable', 503],
  ] as const)('gets the refusal of a wake: %s %s is %i', async (kind, code, status) => {
    app().test.services.on(agentsRequests.openApp, () => {
      throw new DomainError(kind, code, 'No.');
    });
    expect(await refusalTo({ method: 'POST', body: 'x' })).toEqual([status, code]);
  });

  it('gets no route that is for Berth only, but every other', async () => {
    for (const [method, path] of [
      ['POST', '/x/..%2Fchat/?a'],
      ['GET', '//schedules'],
      ['GET', '/.berth/other'],
    ] as const)
      expect(await refusalTo({ method, path })).toEqual([404, 'not_found']);
    expect(host().opened).toBe(0);
    for (const [method, path] of [
      ['GET', '/chat'],
      ['POST', '/schedules'],
      ['PATCH', '/%ZZ?token=mine'],
      ['PROPFIND', '/a'],
    ] as const) {
      const seen = received();
      expect((await send({ method, path })).text).toBe('here');
      expect(await seen).toMatchObject({ method, url: path });
    }
  });

  it('has the answer to its own questions in the envelope of the API, with its request id', async () => {
    const { response } = await send({ path: '/.berth/x', headers: { 'x-request-id': 'mine-1' } });
    expect(response.headers).toMatchObject({ 'x-request-id': 'mine-1', 'cache-control': 'no-store' });
    const entered = await send({ path: `/.berth/enter?token=mk_x`, headers: { authorization: undefined } });
    expect([entered.response.statusCode, entered.response.headers['set-cookie']]).toEqual([401, undefined]);
  });
});

describe('a request that parsers could read in two ways', () => {
  const own = (): string => `Authorization: Bearer ${app().key}`;

  it.each<[string, () => readonly string[], string]>([
    ['two lengths', () => [`Host: ${APP_HOST}`, own(), 'Content-Length: 1', 'Content-Length: 2'], 'xx'],
    [
      'a length and chunks',
      () => [`Host: ${APP_HOST}`, own(), 'Content-Length: 5', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ],
    ['an unknown coding', () => [`Host: ${APP_HOST}`, own(), 'Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['two codings', () => [`Host: ${APP_HOST}`, own(), 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    ['a length that is none', () => [`Host: ${APP_HOST}`, own(), 'Content-Length: +1'], 'x'],
    ['two hosts', () => [`Host: ${APP_HOST}`, 'Host: localhost', own()], ''],
    ['two credentials', () => [`Host: ${APP_HOST}`, own(), own()], ''],
    ['a folded header', () => [`Host: ${APP_HOST}`, own(), 'X-A: b', ' Transfer-Encoding: chunked'], ''],
    ['a space before the colon', () => [`Host: ${APP_HOST}`, own(), 'Transfer-Encoding : chunked'], ''],
  ])('never reaches the program: %s', async (_what, headers, body) => {
    expect(await raw(['POST /a HTTP/1.1', ...headers()], body)).toMatch(/^HTTP\/1\.1 400 /);
    expect(host().opened).toBe(0);
  });

  it('is one whose target names another host than Host', async () => {
    for (const [target, name] of [
      [`http://${APP_HOST}/a`, 'localhost'],
      ['http://localhost/health', APP_HOST],
      [`http://x@${APP_HOST}/a`, APP_HOST],
    ] as const)
      expect(await raw([`GET ${target} HTTP/1.1`, `Host: ${name}`, own()])).toMatch(/^HTTP\/1\.1 400 /);
    const seen = received();
    expect(await raw([`GET http://${APP_HOST}/a?b HTTP/1.1`, `Host: ${APP_HOST}`, own()])).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect((await seen).url).toBe('/a?b');
  });

  it('is one whose target is neither a path nor an http URL', async () => {
    for (const target of [`ws://${APP_HOST}/chat`, `ftp://${APP_HOST}/chat`, '*'])
      expect(await raw([`POST ${target} HTTP/1.1`, `Host: ${APP_HOST}`, own(), 'Content-Length: 0'])).toMatch(
        /^HTTP\/1\.1 400 /,
      );
    expect(host().opened).toBe(0);
  });

  it('is one whose headers are larger than 16 KiB: 431', async () => {
    const answer = await raw(['GET / HTTP/1.1', `Host: ${APP_HOST}`, own(), `X-A: ${'a'.repeat(20_000)}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('cannot follow a body: what comes after it is a request of its own', async () => {
    const urls: (string | undefined)[] = [];
    host().respond = (request, response) => {
      urls.push(request.url);
      request.resume().on('end', () => response.end('here'));
    };
    const smuggled = 'POST /chat HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await raw(
      ['POST /a HTTP/1.1', `Host: ${APP_HOST}`, own(), 'Transfer-Encoding: chunked'],
      `5\r\nhello\r\n0\r\n\r\n${smuggled}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(urls).toEqual(['/a']);
  });
});

describe('a response of an app', () => {
  it('keeps its status, headers and bytes, without what acts on other origins', async () => {
    host().respond = (_request, response) => {
      response.writeHead(418, 'Short and stout', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2; Domain=apps.localhost',
        'Clear-Site-Data',
        '"*"',
        'Service-Worker-Allowed',
        '/',
        'X-Own',
        'x',
      ]);
      response.end('tea');
    };
    const { response, text } = await send({ headers: { 'x-request-id': 'mine-2' } });
    expect([response.statusCode, response.statusMessage, text]).toEqual([418, 'Short and stout', 'tea']);
    expect(response.headers).toMatchObject({ 'set-cookie': ['a=1'], 'x-own': 'x', 'x-request-id': 'mine-2' });
    expect(response.headers).not.toHaveProperty('clear-site-data');
    expect(response.headers).not.toHaveProperty('service-worker-allowed');
    // The headers of our own responses would break pages.
    expect(response.headers).not.toHaveProperty('content-security-policy');
  });

  it('arrives piece by piece, and its request too', async () => {
    host().respond = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      request.on('data', (chunk: Buffer) => response.write(`saw ${chunk.toString()}`));
      request.on('end', () => response.end());
    };
    const request = begin({ method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    for (const piece of ['one', 'two']) {
      request.write(piece);
      expect(String((await once(response, 'data'))[0])).toBe(`saw ${piece}`);
    }
    request.end();
    await once(response.resume(), 'end');
  });

  it('to HEAD has the headers only; without content it has none', async () => {
    host().respond = ({ method }, response) => {
      if (method === 'HEAD') response.writeHead(200, { 'content-length': 5 }).end();
      else response.writeHead(204).end();
    };
    const { response, text } = await send({ method: 'HEAD' });
    expect([response.headers['content-length'], text]).toEqual(['5', '']);
    expect((await send({})).response.statusCode).toBe(204);
  });

  it('may begin with 100 and 103, and end with trailers', async () => {
    host().respond = (request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      request.resume().on('end', () => {
        response.writeHead(200, { trailer: 'X-Sum' });
        response.write('here');
        response.addTrailers({ 'X-Sum': JSON.stringify(request.trailers) });
        response.end();
      });
    };
    const request = begin({
      method: 'POST',
      headers: { expect: '100-continue', 'transfer-encoding': 'chunked', trailer: 'X-Part' },
    });
    const hints: unknown[] = [];
    request.on('information', ({ statusCode, headers }) => {
      if (statusCode === 103) hints.push(headers['link']);
    });
    await once(request, 'continue');
    request.addTrailers({ 'X-Part': '7', 'X-Berth-External-User-Id': 'root', authorization: 'Bearer eu_x' });
    request.end('body');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(await textOf(response)).toBe('here');
    expect([hints, response.trailers]).toEqual([['</a.css>; rel=preload'], { 'x-sum': '{"x-part":"7"}' }]);
  });

  it.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'])(
    'is 502, and the app loses its connection, if %j comes without end',
    async (informational) => {
      const lost = Promise.withResolvers<void>();
      host().respond = (_request, { socket }) => {
        const more = setInterval(() => socket?.write(informational.repeat(50)), 1);
        socket?.once('close', () => {
          clearInterval(more);
          lost.resolve();
        });
      };
      expect(await refusalTo({})).toEqual([502, 'app_unreachable']);
      await lost.promise;
    },
  );

  it('loses hints that are no links, and nothing else', async () => {
    for (const link of ['here', '</a.css>;', '<a b>; rel']) {
      host().raw = (connection) =>
        connection.end(
          `HTTP/1.1 103 X\r\nLink: ${link}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere`,
        );
      expect((await send()).text).toBe('here');
    }
  });

  it('that breaks off breaks off for the caller, too', async () => {
    host().respond = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half');
      setImmediate(() => response.destroy());
    };
    await expect(send({})).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  });

  it.each([
    ['nothing listens', () => (host().refusal = refusalOf('upstream', 'app_unreachable'))],
    [
      'an older guest has no way to it',
      () => (host().refusal = refusalOf('unsupported', 'guest_route_unknown')),
    ],
    ['it does not speak HTTP', () => (host().raw = (connection) => connection.end('BLURB\r\n\r\n'))],
    ['it closes at once', () => (host().raw = (connection) => connection.end())],
    [
      'its headers are too large',
      () =>
        (host().raw = (connection) => connection.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`)),
    ],
    [
      'its body has a coding besides chunks',
      () =>
        (host().raw = (connection) =>
          connection.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')),
    ],
    [
      'it has another protocol',
      () =>
        (host().raw = (connection) =>
          connection.end('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')),
    ],
  ])('is 502 if %s', async (_when, arrange) => {
    arrange();
    for (const method of ['GET', 'POST'])
      expect(await refusalTo({ method })).toEqual([502, 'app_unreachable']);
  });

  it('is 429 with Retry-After if the app has too many connections', async () => {
    host().refusal = refusalOf('exhausted', 'too_many_app_connections');
    const { response } = await send();
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '1']);
  });

  it('is found with a new ticket if the agent fell asleep in between', async () => {
    host().refusal = refusalOf('conflict', 'stale_epoch', { epoch: 1, state: 'freezing' });
    const refused: (number | null)[] = [];
    app().test.services.on(agentsRequests.openApp, ({ refusedEpoch }) => {
      refused.push(refusedEpoch);
      if (refusedEpoch !== null) host().refusal = undefined;
      return host().ticket(7);
    });
    expect((await send({ method: 'POST', body: 'x' })).text).toBe('here');
    expect(refused).toEqual([null, 7]);
  });
});

describe('a connection to an app', () => {
  it('is used for the next safe request, of this account only', async () => {
    for (let round = 0; round < 3; round++) await send();
    expect(host().opened).toBe(1);
    app().key = app().test.services.key(['deploy']);
    await send();
    expect(host().opened).toBe(2);
  });

  it('is a new one for a request that must not be sent twice', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) await send({ method });
    expect(host().opened).toBe(4);
  });

  it('is replaced if the program closed it without a response to a safe request', async () => {
    await send();
    let requests = 0;
    host().respond = (request, response) => {
      requests++;
      if (requests === 1) request.socket.destroy();
      else response.end('again');
    };
    expect((await send()).text).toBe('again');
    expect(host().opened).toBe(2);
  });

  it('is not kept for long, because it keeps the agent awake', async () => {
    await send();
    expect(host().open).toBeGreaterThan(0);
    await eventually(() => expect(host().open).toBe(0), { timeoutMs: 5_000 });
  });

  it('ends when its caller leaves, before the response and during it', async () => {
    for (const isBegun of [false, true]) {
      const seen = Promise.withResolvers<IncomingMessage>();
      host().respond = (request, response) => {
        if (isBegun) response.write('first');
        seen.resolve(request);
      };
      const request = begin({ method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
      request.on('error', () => undefined);
      request.write('body');
      const program = await seen.promise;
      const closed = new Promise((resolve) => program.socket.once('close', resolve));
      request.destroy();
      await closed;
    }
  });

  it('pauses a response that its caller does not read', async () => {
    let written = 0;
    const chunk = Buffer.alloc(65_536);
    host().respond = (_request, response) => {
      const more = (): void => {
        do written += chunk.length;
        while (response.write(chunk) && written < 1_000_000_000);
      };
      response.on('drain', more);
      more();
    };
    const request = begin();
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    let before = -1;
    await eventually(
      () => {
        const isStill = written === before;
        before = written;
        return isStill;
      },
      { timeoutMs: 10_000, intervalMs: 300 },
    );
    expect(written).toBeLessThan(100_000_000);
    request.on('error', () => undefined).destroy();
  });

  it('of a response in progress is closed within 5 s of the revocation of its key', async () => {
    host().respond = (_request, response) => response.write('first');
    const request = begin();
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const closed = new Promise((resolve) => response.resume().on('error', resolve));
    app().test.services.revoke(app().key);
    const since = performance.now();
    await closed;
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});
