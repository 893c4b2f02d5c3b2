import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { insideAgent, publishSchedules } from './index.js';
import { atOnce, json, ok, refusal, rejection, TestServer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

describe('request', () => {
  it('returns status, headers, and JSON, text or null', async () => {
    const berth = server.client();
    server.answer = (_, response) => json(response, 201, { a: 1 }, { 'x-request-id': 'r' });
    const answer = await berth.request('post', '/x', {
      query: { a: [1, 'b c'], none: null },
      body: { a: null },
    });
    expect([answer.status, answer.headers.get('x-request-id'), answer.data]).toEqual([201, 'r', { a: 1 }]);
    expect(server.received[0]).toMatchObject({ method: 'POST', target: '/x?a=1&a=b%20c' });
    expect(server.received[0]?.body.toString()).toBe('{"a":null}');
    for (const [body, data] of [
      ['a,b\r\n1,2', 'a,b\r\n1,2'],
      ['', null],
      ['null', null],
      ['"x"', 'x'],
      ['[1]', [1]],
    ] as const) {
      server.answer = (_, response) => response.end(body);
      expect((await berth.request('GET', '/x?a=1', { query: { b: 2 } })).data).toEqual(data);
    }
    expect(server.received.at(-1)?.target).toBe('/x?a=1&b=2');
  });

  it('sends headers of its own, of its options and of the client, in this order of precedence', async () => {
    const berth = server.client({ headers: { 'x-a': 'client', 'x-b': 'client', 'x-c': 'client' } });
    await berth.request(
      'GET',
      '/x',
      { headers: { 'X-A': 'own', 'X-B': 'own' } },
      { headers: { 'x-a': 'call' } },
    );
    expect(server.received[0]?.headers).toMatchObject({ 'x-a': 'call', 'x-b': 'own', 'x-c': 'client' });
    await berth.request('GET', '/api/v1/usage', { headers: { accept: 'text/csv' } });
    expect(server.received[1]?.headers.accept).toBe('text/csv');
  });

  it('sends text and bytes as they are, streams in pieces, and everything else as JSON', async () => {
    const form = new FormData();
    form.set('a', 'b');
    const bodies = [
      'text',
      Uint8Array.of(1),
      new Blob(['b']).stream(),
      Readable.from([Buffer.from('n')]),
      form,
      [1],
      5,
    ];
    for (const body of bodies) await server.client().request('PUT', '/x', { body });
    expect(server.received.map(({ headers }) => headers['content-type']?.replace(/;.*/, ''))).toEqual([
      ...['text/plain', 'application/octet-stream', 'application/octet-stream', 'application/octet-stream'],
      ...['multipart/form-data', 'application/json', 'application/json'],
    ]);
    expect(server.received.map(({ body }) => body.toString()).filter((_, index) => index !== 4)).toEqual([
      ...['text', '\u0001', 'b', 'n', '[1]', '5'],
    ]);
  });

  it('keeps the path of the base URL', async () => {
    await server.client({ baseUrl: `${server.url}/berth/` }).request('GET', '/x');
    await server.client({ baseUrl: `${server.url}/berth` }).agents.get('a');
    expect(server.received.map(({ target }) => target)).toEqual(['/berth/x', '/berth/api/agents/a']);
  });
});

describe('deployments.wait', () => {
  it.each(['succeeded', 'failed'])('returns the deployment once it is %s', async (status) => {
    server.answers(ok({ status: 'queued' }), ok({ status: 'building' }), ok({ status }));
    expect(await server.client().deployments.wait('a', 'd')).toEqual({ status });
    expect(new Set(server.received.map(({ path }) => path))).toEqual(
      new Set(['/api/agents/a/deployments/d']),
    );
  });

  it('ends with its time-out and with its signal', async () => {
    server.answer = ok({ status: 'building' });
    const { deployments } = server.client();
    expect(await rejection(deployments.wait('a', 'd', { timeout: 100 }))).toMatchObject({ code: 'timeout' });
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    expect(await rejection(deployments.wait('a', 'd', { signal: controller.signal }))).toBe(reason);
  });
});

describe('publishSchedules', () => {
  const NAMES = ['BERTH_API_URL', 'BERTH_AGENT_TOKEN'] as const;
  const inside = (): void => {
    process.env['BERTH_API_URL'] = server.url;
    process.env['BERTH_AGENT_TOKEN'] = 'agent-token';
  };
  afterEach(() => NAMES.forEach((name) => delete process.env[name]));

  it('replaces all wakes of the agent that it runs in', async () => {
    inside();
    server.answers(atOnce(503), ok({ entries: 1 }));
    expect(insideAgent()).toBe(true);
    const entries = [
      { id: 'm', cron: '0 9 * * 1', tz: 'Europe/Berlin', nextRunAt: new Date(0), prompt: 'News?' },
    ];
    expect(await publishSchedules(entries)).toEqual({ entries: 1 });
    expect(server.received).toHaveLength(2);
    expect(server.received[1]).toMatchObject({ method: 'PUT', target: '/agent/v1/schedules' });
    expect(server.received[1]?.headers.authorization).toBe('Bearer agent-token');
    expect(JSON.parse(String(server.received[1]?.body))).toEqual({
      entries: [{ ...entries[0], nextRunAt: '1970-01-01T00:00:00.000Z' }],
    });
    server.answers(ok({ entries: 0 }));
    await publishSchedules([]);
    expect(server.received[2]?.body.toString()).toBe('{"entries":[]}');
  });

  it('throws what the service refuses', async () => {
    inside();
    server.answer = refusal(400, { code: 'invalid_schedule', message: 'No.' });
    expect(await rejection(publishSchedules([{ id: '' }]))).toMatchObject({ code: 'invalid_schedule' });
  });

  it.each(NAMES)('does nothing outside an agent, where %s is missing or empty', async (name) => {
    inside();
    process.env[name] = '';
    expect(insideAgent()).toBe(false);
    expect(await publishSchedules([{ id: 'm', cron: '@daily' }])).toBeNull();
    expect(await publishSchedules('invalid' as never)).toBeNull();
    expect(server.received).toEqual([]);
  });
});
