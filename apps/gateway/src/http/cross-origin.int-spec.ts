import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { caller, silent, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';
import { startGateway, type RunningGateway } from '../start-gateway.js';

const PAGE = 'https://app.example.com';
const AGENT = newId('agt');
const LOGS = `/api/agents/${AGENT}/logs`;

let test: TestGateway;
let others: readonly RunningGateway[] = [];
/** A gateway that allows no origin, and one that allows all. */
let [closed, open]: TestGateway['call'][] = [];

beforeAll(async () => {
  test = await startTestGateway(silent, { allowedOrigins: ['https://other.example.com', PAGE] });
  others = await Promise.all(
    [[], ['*']].map((allowedOrigins) => startGateway({ ...test.config, allowedOrigins }, silent)),
  );
  [closed, open] = others.map(({ url }) => caller(url));
});
afterAll(async () => {
  await Promise.all(others.map((gateway) => gateway.stop()));
  await test.stop();
});
beforeEach(() => {
  test.services.reset();
  test.services.agents.set(AGENT, anAgent({ id: AGENT }));
  test.services.on(agentsRequests.locate, () => ({
    host: 'host1',
    guest: { version: '1', capabilities: [] },
  }));
  test.services.on(runtimeRequests.logs, () => ({ logs: [], nextCursor: '0' }));
});

const from = (origin: string) => ({ origin });
const asking = (method: string, origin = PAGE) => ({
  headers: {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization',
  },
});
const shownTo = ({ headers }: { readonly headers: Headers }): string | null =>
  headers.get('access-control-allow-origin');

describe('a page of an allowed origin', () => {
  it('may call exactly the routes that accept tokens of end users', async () => {
    const { body } = await test.call('GET', '/openapi.json');
    const routes = Object.entries(body['paths'] as Record<string, Record<string, { security?: object[] }>>);
    const allowed: string[] = [];
    const forTokens: string[] = [];
    for (const [path, methods] of routes) {
      for (const [name, { security = [] }] of Object.entries(methods)) {
        const method = name.toUpperCase();
        const { status, headers } = await test.call('OPTIONS', path.replaceAll(/[{}]/g, ''), asking(method));
        expect([204, 405]).toContain(status);
        if (status === 204) allowed.push(`${headers.get('access-control-allow-methods') ?? ''} ${path}`);
        else expect(shownTo({ headers })).toBeNull();
        if (security.some((scheme) => 'endUserToken' in scheme)) forTokens.push(`${method} ${path}`);
      }
    }
    expect(allowed).toEqual(forTokens);
    expect(allowed).toContain('POST /api/agents/{agent_id}/chat');
    expect(allowed).not.toContain('POST /api/agents/{agent_id}/exec');
  });

  it('may send the headers of the API, and read those of its responses', async () => {
    const { headers } = await test.call('OPTIONS', LOGS, asking('GET'));
    expect(shownTo({ headers })).toBe(PAGE);
    expect(headers.get('vary')).toBe('Origin');
    expect(headers.get('access-control-allow-headers')).toMatch(
      /authorization.*content-type.*idempotency-key/,
    );
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const key = test.services.token(['logs'], AGENT);
    const read = await test.call('GET', LOGS, { key, headers: from(PAGE) });
    expect([read.status, shownTo(read), read.headers.get('vary')]).toEqual([200, PAGE, 'Origin']);
    expect(read.headers.get('access-control-expose-headers')).toMatch(/retry-after.*x-request-id/);
  });

  it('may follow the logs', async () => {
    const headers = { ...from(PAGE), authorization: `Bearer ${test.services.token(['logs'], AGENT)}` };
    const hangUp = new AbortController();
    const url = `${test.gateway.url.replace('localhost', '127.0.0.1')}${LOGS}?follow=true`;
    const response = await fetch(url, { headers, signal: hangUp.signal });
    hangUp.abort();
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect([shownTo(response), response.headers.get('x-content-type-options')]).toEqual([PAGE, 'nosniff']);
  });

  it('may read why a request of it is refused', async () => {
    const key = test.services.token(['logs'], AGENT);
    const revoked = test.services.token(['logs'], AGENT);
    test.services.revoke(revoked);
    const suspended = test.services.token(['logs'], AGENT, { suspended: true });
    const limited = test.services.token(['logs'], AGENT, { retryAfterSeconds: 3 });
    for (const [status, method, path, call] of [
      [401, 'GET', LOGS, {}],
      [401, 'GET', LOGS, { key: revoked }],
      [401, 'GET', `${LOGS}?token=${key}`, { key }],
      [403, 'GET', LOGS, { key: suspended }],
      [403, 'POST', `/api/agents/${AGENT}/chat`, { key, json: { message: 'hello' } }],
      [404, 'GET', `/api/agents/${newId('agt')}/logs`, { key }],
      [400, 'GET', `${LOGS}?limit=none`, { key }],
      [429, 'GET', LOGS, { key: limited }],
    ] as const) {
      const refused = await test.call(method, path, { ...call, headers: from(PAGE) });
      expect([path, refused.status, shownTo(refused)]).toEqual([path, status, PAGE]);
    }
  });

  it('may not read a response to a key, nor one of another route', async () => {
    const key = test.services.key();
    const read = await test.call('GET', LOGS, { key, headers: from(PAGE) });
    expect([read.status, shownTo(read)]).toEqual([200, null]);
    const lower = { ...from(PAGE), authorization: `bearer ${key}` };
    const again = await test.call('GET', LOGS, { headers: lower });
    expect([again.status, shownTo(again)]).toEqual([200, null]);
    for (const path of ['/health', '/openapi.json', '/api/v1/account', '/api/agents', '/nope'])
      expect([path, shownTo(await test.call('GET', path, { headers: from(PAGE) }))]).toEqual([path, null]);
  });
});

describe('a page of another origin', () => {
  it.each([
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://example.com',
    'null',
    '',
  ])('may do nothing (%j)', async (origin) => {
    expect((await test.call('OPTIONS', LOGS, asking('GET', origin))).status).toBe(405);
    const key = test.services.token(['logs'], AGENT);
    const read = await test.call('GET', LOGS, { key, headers: from(origin) });
    expect([read.status, shownTo(read), read.headers.get('vary')]).toEqual([200, null, 'Origin']);
  });

  it('may do nothing if no origin is allowed, which is the default', async () => {
    expect((await closed?.('OPTIONS', LOGS, asking('GET')))?.status).toBe(405);
    const key = test.services.token(['logs'], AGENT);
    const read = await closed?.('GET', LOGS, { key, headers: from(PAGE) });
    expect([read?.status, read?.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });

  it('may call the routes of end users if all origins are allowed', async () => {
    const asked = await open?.('OPTIONS', LOGS, asking('GET', 'null'));
    expect([asked?.status, asked?.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    const key = test.services.token(['logs'], AGENT);
    const read = await open?.('GET', LOGS, { key, headers: from('https://any.example.com') });
    expect([read?.status, read?.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });
});

it('OPTIONS without the header of a preflight request is the 405 of any unknown method', async () => {
  const { status, headers } = await test.call('OPTIONS', LOGS, { headers: from(PAGE) });
  expect([status, headers.get('allow'), shownTo({ headers })]).toEqual([405, 'GET, HEAD', null]);
});
