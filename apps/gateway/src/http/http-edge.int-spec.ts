import { agentsRequests } from '@berth/contracts/agents';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, sendRaw, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
});

const ENVELOPE = { code: expect.any(String) as string, message: expect.any(String) as string };

describe('request ids', () => {
  it("are the caller's own when they are well formed, and travel to the services", async () => {
    test.services.on(agentsRequests.list, () => ({ items: [], nextCursor: null }));
    const { headers } = await test.call('GET', '/api/agents', {
      key: test.services.key(),
      headers: { 'x-request-id': 'a.b:c-1_Z' },
    });
    expect(headers.get('x-request-id')).toBe('a.b:c-1_Z');
    expect(test.services.received.map(({ requestId }) => requestId)).toEqual(['a.b:c-1_Z', 'a.b:c-1_Z']);
  });

  it('are kept for a request whose body arrives in chunks', async () => {
    const body = JSON.stringify({ name: 'scout', templateId: 'echo' }) + ' '.repeat(90_000);
    const response = await test.call('POST', '/api/agents', {
      key: test.services.key(),
      body,
      headers: { 'x-request-id': 'big-1', 'content-type': 'application/json' },
    });
    expect(response.status).toBe(201);
    expect(new Set(test.services.received.map(({ requestId }) => requestId))).toEqual(new Set(['big-1']));
  });

  it.each(['has space', 'a'.repeat(129), 'semi;colon', ''])('are new ones instead of %j', async (id) => {
    const { headers } = await test.call('GET', '/openapi.json', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('are on every error response too', async () => {
    const key = test.services.key();
    const headers = { 'content-type': 'application/json' };
    const refusals = [
      await test.call('GET', '/nope'),
      await test.call('PATCH', '/api/agents'),
      await test.call('GET', '/api/agents'),
      await test.call('GET', '/api/%ZZ'),
      await test.call('POST', '/api/agents', { key, headers, body: '{' }),
      await test.call('POST', '/api/agents', { key, headers, body: 'x'.repeat(1_048_577) }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([404, 405, 401, 400, 400, 413]);
    for (const refusal of refusals) {
      expect(refusal.headers.get('x-request-id')).toMatch(/^req_/);
      expect(refusal.body.detail).toMatchObject(ENVELOPE);
      expect(refusal.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('a request that the HTTP layer refuses', () => {
  it('is one with a wrong method: 405 with Allow, even without a key', async () => {
    const { status, headers, body } = await test.call('PUT', `/api/agents/${newId('agt')}`);
    expect([status, headers.get('allow'), body.detail?.code]).toEqual([
      405,
      'DELETE, GET, HEAD',
      'method_not_allowed',
    ]);
  });

  it('is input that is not HTTP: 400 with {detail}', async () => {
    const { head, body } = readRaw(await sendRaw(test.gateway.url, 'BLURB\r\n\r\n'));
    expect(head).toContain('http/1.1 400');
    expect(head).toContain('x-request-id: req_');
    expect(body.detail).toMatchObject({ code: 'invalid_request', fields: expect.any(Array) as unknown[] });
  });

  it('is one with headers beyond 16 KiB: 431 with {detail}', async () => {
    const bytes = `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`;
    const { head, body } = readRaw(await sendRaw(test.gateway.url, bytes));
    expect(head).toContain('http/1.1 431');
    expect(body.detail).toMatchObject({ code: 'headers_too_large' });
  });

  it("carries the caller's request id even when it was never parsed", async () => {
    for (const rest of ['Content-Length: x', `X-Long: ${'a'.repeat(20_000)}`]) {
      const bytes = `POST /api/agents HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine-1\r\n${rest}\r\n\r\n`;
      expect(readRaw(await sendRaw(test.gateway.url, bytes)).head).toContain('x-request-id: mine-1');
    }
    const odd = 'BLURB / HTTP/1.1\r\nX-Request-Id: not mine\r\n\r\n';
    expect(readRaw(await sendRaw(test.gateway.url, odd)).head).toContain('x-request-id: req_');
  });

  it('is a tunnel (405) and one with two Host headers (400)', async () => {
    const tunnel = readRaw(
      await sendRaw(test.gateway.url, 'CONNECT example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    expect(tunnel.head).toContain('http/1.1 405');
    expect(tunnel.body.detail).toMatchObject({ code: 'method_not_allowed' });
    const hosts = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n';
    const twice = readRaw(await sendRaw(test.gateway.url, hosts));
    expect(twice.head).toContain('http/1.1 400');
    expect(twice.body.detail?.fields?.[0]?.path).toBe('Host');
  });

  it('is one without Host, and one with an asterisk target', async () => {
    const noHost = readRaw(
      await sendRaw(test.gateway.url, 'GET /openapi.json HTTP/1.1\r\nConnection: close\r\n\r\n'),
    );
    expect(noHost.head).toContain('http/1.1 400');
    expect(noHost.body.detail?.fields?.[0]?.path).toBe('Host');
    const asterisk = readRaw(
      await sendRaw(test.gateway.url, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    );
    expect(asterisk.head).toMatch(/http\/1\.1 40[45]/);
    expect(asterisk.head).toContain('x-request-id: req_');
    expect(asterisk.body.detail).toMatchObject(ENVELOPE);
  });

  it('is one with invalid percent-encoding in the query', async () => {
    const { status, body } = await test.call('GET', '/api/agents?name=%E0%A4%A', {
      key: test.services.key(),
    });
    expect([status, body.detail?.code]).toEqual([400, 'invalid_request']);
  });

  it('is not one with a long path parameter, which is an unknown agent', async () => {
    const { status, body } = await test.call('GET', `/api/agents/${'a'.repeat(5_000)}`, {
      key: test.services.key(),
    });
    expect([status, body.detail?.code]).toEqual([404, 'agent_not_found']);
  });
});

describe('bodies', () => {
  const create = (call: {
    body?: string | Uint8Array<ArrayBuffer>;
    type?: string;
    more?: Record<string, string>;
  }) =>
    test.call('POST', '/api/agents', {
      key: test.services.key(),
      ...(call.body === undefined ? {} : { body: call.body }),
      headers: { ...(call.type === undefined ? {} : { 'content-type': call.type }), ...call.more },
    });
  const GOOD = '{"name":"scout","templateId":"echo"}';

  it.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'garbage',
    'multipart/form-data',
  ])('may be missing with any Content-Type: %s', async (type) => {
    const agent = anAgent();
    test.services.on(agentsRequests.start, () => ({ agent, settled: true }));
    const started = await test.call('POST', `/api/agents/${agent.id}/start`, {
      key: test.services.key(),
      headers: { 'content-type': type },
    });
    expect(started.status).toBe(200);
    const created = await create({ type });
    expect(created.body.detail?.fields?.map(({ path }) => path)).toEqual(['name', 'templateId']);
  });

  it('are parsed as JSON without a content type and with any JSON type', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/merge-patch+json',
    ]) {
      expect((await create({ body: GOOD, type })).status).toBe(201);
    }
    expect((await create({ body: new TextEncoder().encode(GOOD) })).status).toBe(201);
  });

  it('of another type or encoding are 415', async () => {
    for (const type of ['text/plain', 'application/xml', 'garbage']) {
      const { status, body } = await create({ body: GOOD, type });
      expect([status, body.detail?.code]).toEqual([415, 'unsupported_media_type']);
    }
    const zipped = await create({
      body: GOOD,
      type: 'application/json',
      more: { 'content-encoding': 'gzip' },
    });
    expect(zipped.status).toBe(415);
  });

  it.each([
    ['cut off', '{"name":'],
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['poisoning prototypes', '{"name":"a","templateId":"echo","__proto__":{"x":1}}'],
    ['poisoning constructors', '{"name":"a","labels":{"constructor":{"prototype":{}}}}'],
    ['nested beyond 64 levels', `{"x":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['nested beyond any stack', `{"x":${'['.repeat(400_000)}${']'.repeat(400_000)}}`],
    ['an array', '[1]'],
    ['null', 'null'],
  ])('that are %s are 400', async (_what, body) => {
    const response = await create({ body, type: 'application/json' });
    expect([response.status, response.body.detail?.code]).toEqual([400, 'invalid_request']);
    expect(test.services.requestsTo(agentsRequests.create)).toEqual([]);
  });

  it('pass with exactly 1 MiB and are 413 with one byte more', async () => {
    const padded = (bytes: number): string => GOOD.slice(0, -1) + ' '.repeat(bytes - GOOD.length) + '}';
    expect((await create({ body: padded(1_048_576), type: 'application/json' })).status).toBe(201);
    const { status, body } = await create({ body: padded(1_048_577), type: 'application/json' });
    expect([status, body.detail?.['limitBytes']]).toEqual([413, 1_048_576]);
  });

  it('that are too long are 413 even without Content-Length', async () => {
    const chunk = `${(0x110000).toString(16)}\r\n${' '.repeat(0x110000)}\r\n0\r\n\r\n`;
    const head = `POST /api/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.services.key()}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(readRaw(await sendRaw(test.gateway.url, head + chunk)).body.detail).toMatchObject({
      code: 'payload_too_large',
    });
  });
});
