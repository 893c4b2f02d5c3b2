import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceConflictError, ServiceConnectionError, ServiceRateLimitError, type Berth } from './index.js';
import { atOnce, broken, json, ok, refusal, rejection, TestServer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const NOT_READY = { code: 'vm_not_ready', state: 'starting', execution_started: false };
const UNAVAILABLE = { code: 'guest_command_unavailable', execution_started: false };
const RESULT = { executionId: 'e', status: 'completed', exitCode: 0, stdout: '', stderr: '' };
const SOON = { 'retry-after': '0' };
const keys = (): unknown[] => server.received.map(({ headers }) => headers['idempotency-key']);

describe('repeats', () => {
  it.each([408, 429, 502, 503, 504])('follow status %i, twice by default', async (status) => {
    server.answers(atOnce(status), atOnce(status), ok({ id: 'a' }));
    expect(await server.client().agents.get('a')).toEqual({ id: 'a' });
    expect(server.received).toHaveLength(3);
    server.received.length = 0;
    server.answers(atOnce(status));
    expect(await rejection(server.client().agents.get('a'))).toMatchObject({ status });
    expect(server.received).toHaveLength(3);
  });

  it.each([400, 401, 403, 404, 409, 500, 501])('do not follow status %i', async (status) => {
    server.answers(atOnce(status));
    expect(await rejection(server.client().agents.get('a'))).toMatchObject({ status });
    expect(server.received).toHaveLength(1);
  });

  it('follow a connection that breaks, also midway in an answer', async () => {
    server.answers(
      broken,
      (_, response) => {
        response.writeHead(200, { 'content-length': '50' }).write('{');
        setImmediate(() => response.destroy());
      },
      ok({ id: 'a' }),
    );
    expect(await server.client().agents.get('a')).toEqual({ id: 'a' });
  });

  it.each<[string, (berth: Berth) => Promise<unknown>]>([
    ['PUT', (berth) => berth.env.set('a', 'KEY', 'value')],
    ['PATCH', (berth) => berth.agents.update('a', { name: 'b' })],
    ['DELETE', (berth) => berth.agents.delete('a')],
  ])('include %s', async (method, call) => {
    server.answers(atOnce(503), ok({}));
    await call(server.client());
    expect(server.received.map((one) => one.method)).toEqual([method, method]);
  });

  it('of a POST have the same new idempotency key', async () => {
    server.answers(atOnce(503), ok({}));
    await server.client().agents.create({ name: 'a', templateId: 'echo' });
    await server.client().agents.create({ name: 'a', templateId: 'echo' });
    const [first, second, third] = keys();
    expect(first).toMatch(/^.{16,255}$/);
    expect(second).toBe(first);
    expect(third).toEqual(expect.any(String));
    expect(third).not.toBe(first);
  });

  it("of a POST have the caller's key if there is one, and its headers and body", async () => {
    server.answers(atOnce(502), ok({}));
    const create = server.client().keys.mint({ name: 'n', scopes: ['read'] }, { idempotencyKey: 'mine' });
    await create;
    expect(keys()).toEqual(['mine', 'mine']);
    expect(server.received[1]?.body).toEqual(server.received[0]?.body);
  });

  it('follow 409 idempotency_in_progress of a repeat only', async () => {
    const inProgress = atOnce(409, 'idempotency_in_progress');
    server.answers(broken, inProgress, ok({ id: 'a' }));
    expect(await server.client().agents.create({ name: 'a', templateId: 'e' })).toEqual({ id: 'a' });
    server.answers(inProgress);
    const first = await rejection(server.client().agents.create({ name: 'a', templateId: 'e' }));
    expect(first).toBeInstanceOf(ServiceConflictError);
    expect(server.received).toHaveLength(4);
  });

  it('of `request` include a POST only with a key of the caller', async () => {
    server.answers(atOnce(503));
    await rejection(server.client().request('POST', '/x', { body: {} }));
    expect(keys()).toEqual([undefined]);
    await rejection(server.client().request('POST', '/x', { body: {} }, { idempotencyKey: 'mine' }));
    await rejection(server.client().request('POST', '/x', { headers: { 'Idempotency-Key': 'own' } }));
    expect(keys()).toEqual([undefined, 'mine', 'mine', 'mine', 'own', 'own', 'own']);
  });

  it('take a 404 of a repeated DELETE for done, and of a first one not', async () => {
    const gone = refusal(404, { code: 'not_found', message: 'Gone.' });
    server.answers(broken, gone);
    expect(await server.client().agents.delete('a')).toBeUndefined();
    server.answers(broken, gone);
    expect(await server.client().files.delete('a', 'x')).toEqual({ ok: true, path: 'x' });
    server.answers(broken, gone);
    expect(await server.client().request('DELETE', '/x')).toMatchObject({ status: 404, data: null });
    server.answers(gone);
    expect(await rejection(server.client().agents.delete('a'))).toMatchObject({ status: 404 });
  });

  it.each<[string, (berth: Berth, key?: string) => Promise<unknown>]>([
    ['chats', (berth, idempotencyKey) => berth.agents.chat('a', 'hi', {}, { idempotencyKey })],
    ['invokes', (berth, idempotencyKey) => berth.webhooks.invoke('a', 'hi', {}, { idempotencyKey })],
    [
      'actions',
      (berth, idempotencyKey) => berth.computers.actions('c', { type: 'move' }, {}, { idempotencyKey }),
    ],
  ])('of %s follow 429 only, also with a key', async (_, call) => {
    server.answers(atOnce(429, 'rate_limited'), ok({}));
    await call(server.client());
    expect(server.received).toHaveLength(2);
    for (const [answer, times] of [
      [atOnce(503), 1],
      [broken, 1],
    ] as const) {
      server.received.length = 0;
      server.answers(answer);
      await rejection(call(server.client(), 'mine'));
      expect(server.received).toHaveLength(times);
      expect(keys()).toEqual(['mine']);
    }
    server.received.length = 0;
    server.answer = ok({});
    await call(server.client());
    expect(keys()).toEqual([undefined]);
  });

  it('of commands follow only the two exact refusals', async () => {
    server.answers(refusal(409, NOT_READY, SOON), refusal(503, UNAVAILABLE, SOON), ok(RESULT));
    expect(await server.client().agents.exec('a', 'ls')).toEqual(RESULT);
    expect(keys()).toEqual([undefined, undefined, undefined]);
    for (const answer of [
      refusal(409, { ...NOT_READY, more: 1 }, SOON),
      refusal(409, UNAVAILABLE, SOON),
      refusal(503, { ...UNAVAILABLE, execution_started: true }, SOON),
      atOnce(429),
      broken,
    ]) {
      server.received.length = 0;
      server.answers(answer);
      await rejection(server.client().agents.exec('a', 'ls', {}, { idempotencyKey: 'mine' }));
      expect(server.received).toHaveLength(1);
    }
  });

  it('of uploads never happen, and never of a stream', async () => {
    server.answers(atOnce(429));
    await rejection(server.client().files.upload('a', 'text', { name: 'n' }, { idempotencyKey: 'mine' }));
    expect(server.received).toHaveLength(1);
    const stream = new Blob(['x']).stream();
    await rejection(server.client().computers.upload('c', 'x', stream));
    expect(server.received).toHaveLength(2);
    await rejection(server.client().computers.upload('c', 'x', 'text'));
    expect(server.received).toHaveLength(5);
    await rejection(server.client().request('PUT', '/x', { body: new Blob(['x']).stream() }));
    expect(server.received).toHaveLength(6);
  });

  it('wait as long as Retry-After says, in seconds or as a date', async () => {
    server.answers(refusal(503, 'Wait.', { 'retry-after': '1' }), ok({}));
    const begun = performance.now();
    await server.client().agents.get('a');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
    const date = new Date(Date.now() + 90_000).toUTCString();
    server.answers(refusal(429, 'Wait.', { 'retry-after': date }));
    const error = (await rejection(server.client().agents.get('a'))) as ServiceRateLimitError;
    expect(error.retryAfter).toBeGreaterThan(80);
    expect(server.received).toHaveLength(3);
  });

  it('do not wait more than 60 s, nor beyond the time-out', async () => {
    server.answers(refusal(503, 'Wait.', { 'retry-after': '61' }));
    await rejection(server.client().agents.get('a'));
    server.answers(refusal(503, 'Wait.', { 'retry-after': '5' }));
    const error = await rejection(server.client({ timeout: 2_000 }).agents.get('a'));
    expect(error).toMatchObject({ status: 503, message: 'Wait.' });
    expect(server.received).toHaveLength(2);
  });

  it('happen as often as the client or the call says', async () => {
    server.answers(atOnce(503));
    await rejection(server.client({ maxRetries: 0 }).agents.get('a'));
    expect(server.received).toHaveLength(1);
    await rejection(server.client({ maxRetries: 0 }).agents.get('a', {}, { maxRetries: 4 }));
    expect(server.received).toHaveLength(6);
  });

  it('end in the last error', async () => {
    server.answers(atOnce(503), broken);
    const error = await rejection(server.client({ maxRetries: 1 }).agents.get('a'));
    expect(error).toBeInstanceOf(ServiceConnectionError);
  });

  it('go to the same address, with the key', async () => {
    server.answers(atOnce(503), (request, response) =>
      json(response, 200, { sent: request.headers.authorization }),
    );
    expect(await server.client().agents.get('a')).toEqual({ sent: `Bearer mk_0123456789secret` });
  });
});
