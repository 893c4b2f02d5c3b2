import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ServiceAuthError,
  ServiceConflictError,
  ServiceConnectionError,
  ServiceError,
  ServiceNotFoundError,
  ServicePaymentRequiredError,
  ServiceRateLimitError,
} from './index.js';
import { broken, json, KEY, ok, refusal, rejection, TestServer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const once = { maxRetries: 0 };

describe('errors', () => {
  it.each<[number, typeof ServiceError]>([
    [400, ServiceError],
    [401, ServiceAuthError],
    [402, ServicePaymentRequiredError],
    [403, ServiceAuthError],
    [404, ServiceNotFoundError],
    [409, ServiceConflictError],
    [429, ServiceRateLimitError],
    [500, ServiceError],
    [503, ServiceError],
  ])('of status %i have its class and all that the service said', async (status, type) => {
    const detail = { code: 'some_code', message: 'Do this.', agentId: 'agt_1' };
    server.answer = refusal(status, detail, { 'x-request-id': 'req-1', 'x-more': 'a' });
    const error = (await rejection(server.client(once).agents.get('a'))) as ServiceError;
    expect(error.constructor).toBe(type);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      ...{ name: type.name, status, code: 'some_code', message: 'Do this.' },
      ...{ detail, requestId: 'req-1' },
    });
    expect(error.headers?.get('x-more')).toBe('a');
    expect(error.stack).toMatch(new RegExp(`^${type.name}: Do this\\.`));
  });

  it('tell the seconds of Retry-After with a 429', async () => {
    server.answer = refusal(429, { code: 'rate_limited', message: 'Slower.' }, { 'retry-after': '7' });
    const error = await rejection(server.client(once).agents.get('a'));
    expect(error).toMatchObject({ retryAfter: 7 });
  });

  it('take a detail that is a string as their message', async () => {
    server.answer = refusal(404, 'Execution not found');
    const error = await rejection(server.client().request('GET', '/api/agents/a/exec/e'));
    expect(error).toMatchObject({
      message: 'Execution not found',
      detail: 'Execution not found',
      status: 404,
    });
  });

  it('have the class of their status for the page of a proxy too, with its first 1,000 characters', async () => {
    const page = `<html>${'x'.repeat(2_000)}`;
    server.answer = (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end(page);
    const error = (await rejection(server.client().agents.get('a'))) as ServiceError;
    expect(error).toBeInstanceOf(ServiceNotFoundError);
    expect(error.detail).toBe(page.slice(0, 1_000));
    expect(error.message).toContain('404');
  });

  it.each(['', '{}', '{"detail": null}', '{"detail": {"code": ""}}', '[1]', 'null'])(
    'have a message if the body is %j',
    async (body) => {
      server.answer = (_, response) => response.writeHead(418).end(body);
      const error = (await rejection(server.client().agents.get('a'))) as ServiceError;
      expect(error.constructor).toBe(ServiceError);
      expect(error.message).not.toBe('');
    },
  );

  it.each(['<html>', '', '[]', '"text"', 'null'])(
    'are invalid_response if a 200 has the body %j',
    async (body) => {
      server.answer = (_, response) => response.writeHead(200).end(body);
      const error = await rejection(server.client().agents.get('a'));
      expect(error).toMatchObject({
        name: 'ServiceError',
        code: 'invalid_response',
        status: 200,
        detail: body,
      });
      expect(server.received).toHaveLength(1);
    },
  );

  it('are no success if a list has no items', async () => {
    server.answer = ok({});
    expect(await rejection(server.client().agents.list())).toMatchObject({ code: 'invalid_response' });
  });

  it('tell of a redirect, which is not followed', async () => {
    server.answer = (_, response) => response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    const error = (await rejection(server.client().agents.get('a'))) as ServiceError;
    expect(error.constructor).toBe(ServiceError);
    expect(error).toMatchObject({ status: 307, message: expect.stringContaining('base URL') });
    expect(server.received.map(({ path }) => path)).toEqual(['/api/agents/a']);
  });

  it('are ServiceConnectionError with the cause if there is no whole answer', async () => {
    const closed = await TestServer.start();
    const berth = closed.client(once);
    await closed.close();
    const refused = (await rejection(berth.health())) as ServiceError;
    expect(refused).toBeInstanceOf(ServiceConnectionError);
    expect(refused).toMatchObject({ code: 'connection_failed', status: undefined, cause: expect.any(Error) });

    server.answer = broken;
    expect(await rejection(server.client(once).health())).toMatchObject({ code: 'connection_failed' });
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"status":');
      setImmediate(() => response.destroy());
    };
    const midway = await rejection(server.client(once).health());
    expect(midway).toBeInstanceOf(ServiceConnectionError);
    expect(midway).toMatchObject({ code: 'connection_failed', cause: expect.anything() });
  });

  it('never show the key, also if a proxy returns it', async () => {
    server.answer = ({ headers }, response) =>
      json(
        response,
        400,
        { detail: { code: 'x', message: `You sent ${headers.authorization}.`, headers } },
        {
          'x-echo': String(headers.authorization),
        },
      );
    const error = (await rejection(server.client().agents.get('a'))) as ServiceError;
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(KEY);
    expect(`${error.message}${JSON.stringify(error)}${error.stack}`).not.toContain(KEY);
    server.answer = ({ headers }, response) => response.writeHead(200).end(String(headers.authorization));
    expect(inspect(await rejection(server.client().agents.get('a')), { depth: Infinity })).not.toContain(KEY);
  });
});

describe('arguments that cannot be sent', () => {
  it.each<[string, (berth: ReturnType<TestServer['client']>) => Promise<unknown>]>([
    ['an empty id', (berth) => berth.agents.get('')],
    ['the id .', (berth) => berth.agents.delete('.')],
    ['the id ..', (berth) => berth.endUsers.get('..')],
    ['an id that is no string', (berth) => berth.agents.get(5 as never)],
    ['an empty id of a list', (berth) => berth.agents.schedules('')],
    ['a lone surrogate in an id', (berth) => berth.agents.get('\ud800')],
    ['no message', (berth) => berth.agents.chat('a', undefined as never)],
    ['an empty command', (berth) => berth.agents.exec('a', '')],
    ['a command without words', (berth) => berth.agents.exec('a', [])],
    ['a command of numbers', (berth) => berth.agents.exec('a', [1] as never)],
    ['a command that may take no time', (berth) => berth.agents.exec('a', 'ls', { timeout: 0 })],
    [
      'a number that JSON lacks',
      (berth) => berth.agents.create({ name: 'a', templateId: 'e', idleTtlSeconds: NaN }),
    ],
    ['a bigint', (berth) => berth.request('POST', '/x', { body: { a: 1n } })],
    ['a function', (berth) => berth.request('POST', '/x', { body: { a: () => 1 } })],
    ['an invalid date', (berth) => berth.usage.total({ from: new Date(NaN) })],
    ['an invalid date in a body', (berth) => berth.request('POST', '/x', { body: { a: new Date(NaN) } })],
    ['an object in a query', (berth) => berth.request('GET', '/x', { query: { a: {} as never } })],
    ['an empty path of a file', (berth) => berth.files.download('a', '')],
    ['content that is no text', (berth) => berth.files.write('a', 'b', 5 as never)],
    ['a file without a name', (berth) => berth.files.upload('a', new Uint8Array(1))],
    ['a file that is a number', (berth) => berth.files.upload('a', 5 as never, { name: 'n' })],
    ['a path without a slash', (berth) => berth.request('GET', 'x')],
    ['a path to another host', (berth) => berth.request('GET', '//example.org/x')],
    ['a path out of the base URL', (berth) => berth.request('GET', '/a/../../x')],
    ['an encoded path out of the base URL', (berth) => berth.request('GET', '/a/%2E%2e/x')],
    ['a backslash in a path', (berth) => berth.request('GET', '/a\\..\\x')],
    ['a method that is none', (berth) => berth.request('G T', '/x')],
    ['a GET with a body', (berth) => berth.request('GET', '/x', { body: {} })],
    ['a header that no request can carry', (berth) => berth.health({ headers: { a: 'b\nc' } })],
    [
      'an idempotency key that no header can carry',
      (berth) => berth.agents.stop('a', {}, { idempotencyKey: 'ü' }),
    ],
    ['a time-out of 0', (berth) => berth.health({ timeout: 0 })],
    ['a negative number of repeats', (berth) => berth.health({ maxRetries: -1 })],
    ['actions that are text', (berth) => berth.computers.actions('c', 'click' as never)],
  ])('are a TypeError, and nothing is sent: %s', async (_, call) => {
    expect(await rejection(call(server.client()))).toBeInstanceOf(TypeError);
    expect(server.received).toEqual([]);
  });

  it('are not ids with strange characters, which fill one segment', async () => {
    await server.client().agents.get('a/b?c#d%2e é');
    expect(server.received[0]?.target).toBe('/api/agents/a%2Fb%3Fc%23d%252e%20%C3%A9');
  });
});
