import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describeHttpFramings, RequestRecorder } from '@berth/testing';
import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionShares } from '../auth/connection-shares.js';
import { silent } from '../fixtures/gateway.fixture.js';
import { serverOptions } from '../http/fastify-server.js';
import type { HttpServer } from '../http/fastify-types.js';
import type { LlmEndpoint } from './llm-endpoint.js';
import { LlmForwarder } from './llm-forwarder.js';
import { LlmRouteHook } from './llm-route.hook.js';

const MODELS = '/agent/v1/llm/openai/v1/models';

let llm: Server;
let respond: (incoming: IncomingMessage, response: ServerResponse) => void;
let recorder: RequestRecorder;
let endpoint: Pick<LlmEndpoint, 'url' | 'forget'>;
let forwarder: LlmForwarder;
let gateway: HttpServer;
let port: number;

beforeEach(async () => {
  recorder = new RequestRecorder();
  respond = recorder.respond;
  llm = createServer();
  for (const event of ['request', 'checkContinue'] as const)
    llm.on(event, (incoming: IncomingMessage, response: ServerResponse) => {
      if (respond === recorder.respond && event === 'checkContinue') response.writeContinue();
      respond(incoming, response);
    });
  await once(llm.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${String(portOf(llm))}`;
  endpoint = { url: () => Promise.resolve(url), forget: () => undefined };
  forwarder = new LlmForwarder(
    { url: () => endpoint.url(), forget: () => endpoint.forget() },
    { stopping: new AbortController().signal },
  );
  gateway = fastify(serverOptions()) as unknown as HttpServer;
  new LlmRouteHook(forwarder, new ConnectionShares({ maxConnections: 100 }), silent).addTo(gateway);
  await gateway.listen({ port: 0, host: '127.0.0.1' });
  port = portOf(gateway.server);
});

afterEach(async () => {
  forwarder.onApplicationShutdown();
  llm.closeAllConnections();
  llm.close();
  gateway.server.closeAllConnections();
  await gateway.close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

const ask = async (headers: Record<string, string> = {}, path = MODELS, method = 'GET', body = '') => {
  const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
  sent.on('error', () => undefined).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
};

describe('the LLM route of a gateway', () => {
  describeHttpFramings(() => ({
    target: { port, host: '127.0.0.1' },
    recorder,
    head: (method) => [`${method} ${MODELS} HTTP/1.1`, 'Host: x'],
  }));

  it('leaves the body of a refused request for nobody: not as a request, and not in the response to another caller', async () => {
    const seen: string[] = [];
    respond = ({ method, url, headers }, response) => {
      seen.push(`${method ?? ''} ${url ?? ''}`);
      response.writeHead(headers.authorization === undefined ? 401 : 200).end(`to ${url ?? ''}`);
    };
    const inner =
      'POST /agent/v1/llm/openai/v1/smuggled HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer at_1\r\n\r\n';
    for (const framing of [{ 'transfer-encoding': 'chunked' }, { 'content-length': String(inner.length) }]) {
      const refused = await ask(framing, MODELS, 'GET', inner);
      const own = await ask({ authorization: 'Bearer at_2' });
      expect([refused.status, own.status, own.text]).toEqual([401, 200, `to ${MODELS}`]);
    }
    expect(seen).toEqual(Array.from({ length: 4 }, () => `GET ${MODELS}`));
  });

  it('grants no 100 Continue for a request that is refused without its body, and closes no later than its end', async () => {
    respond = (_incoming, response) => void response.writeHead(401).end('{}');
    const sent = request({
      port,
      host: '127.0.0.1',
      path: MODELS,
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': 9 },
      agent: false,
    });
    let isGranted = false;
    sent.on('continue', () => (isGranted = true)).flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.statusCode, isGranted]).toEqual([401, false]);
    sent.on('error', () => undefined).destroy();
  });

  it.each([
    [MODELS, { error: { type: 'invalid_request_error', code: 'invalid_request', param: null } }],
    [
      '/agent/v1/llm/anthropic/v1/models',
      { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_request' } },
    ],
  ])('refuses a framing in the shape of the dialect, with a request id: %s', async (path, shape) => {
    const refused = await ask({ 'transfer-encoding': 'gzip, chunked', 'x-request-id': 'mine' }, path, 'POST');
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, shape]);
    expect(refused.headers).toMatchObject({ 'x-request-id': 'mine', connection: 'close' });
  });

  it('passes its request id on, and back unless the response has one', async () => {
    respond = ({ headers }, response) => void response.end(headers['x-request-id']);
    const kept = await ask({ 'x-request-id': 'mine-1' });
    expect([kept.text, kept.headers['x-request-id']]).toEqual(['mine-1', 'mine-1']);
    const replaced = await ask({ 'x-request-id': 'not mine' });
    expect(replaced.text).toMatch(/^req_/);
    expect(replaced.headers['x-request-id']).toBe(replaced.text);
    respond = (_incoming, response) => void response.setHeader('x-request-id', 'theirs').end();
    expect((await ask()).headers['x-request-id']).toBe('theirs');
  });

  it('looks for another process once, if the one that it knows is gone', async () => {
    const url = await endpoint.url();
    let forgotten = 0;
    endpoint = {
      url: () => Promise.resolve(forgotten === 0 ? 'http://127.0.0.1:1' : url),
      forget: () => void forgotten++,
    };
    for (const method of ['GET', 'POST']) {
      forgotten = 0;
      expect([(await ask({}, MODELS, method)).status, forgotten]).toEqual([200, 1]);
    }
  });
});
