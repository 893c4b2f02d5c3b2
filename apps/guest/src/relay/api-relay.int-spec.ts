import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiRelay } from './api-relay.js';

describe('the relay from an agent to the API', () => {
  let relay: ApiRelay;
  let api: Server;

  beforeEach(async () => {
    relay = await ApiRelay.open();
    api = createServer((request, response) => {
      response.setHeader(
        'x-seen',
        `${request.method} ${request.url} ${request.headers.authorization} ${request.headers.host}`,
      );
      request.pipe(response);
    });
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
  });

  afterEach(() => {
    relay.close();
    api.closeAllConnections();
    api.close();
  });

  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${relay.port}${path}`, init);

  it('forwards requests and responses unchanged', async () => {
    const { port } = api.address() as AddressInfo;
    relay.pointTo(`http://127.0.0.1:${port}`);
    const response = await ask('/agent/v1/llm/x?y=1', {
      method: 'POST',
      body: 'hello',
      headers: { authorization: 'Bearer t' },
    });
    expect(response.headers.get('x-seen')).toBe(`POST /agent/v1/llm/x?y=1 Bearer t 127.0.0.1:${port}`);
    expect(await response.text()).toBe('hello');
  });

  it.each([
    '/api/agents',
    '/agent/v10',
    '/agent/v1/../../api/agents',
    '//agent/v1',
    '/agent/v1/%2e%2e/%2e%2e/api',
  ])('forwards nothing else (%s)', async (path) => {
    const { port } = api.address() as AddressInfo;
    relay.pointTo(`http://127.0.0.1:${port}`);
    const { request } = await import('node:http');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ host: '127.0.0.1', port: relay.port, path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(404);
  });

  it('returns an error while there is no API', async () => {
    expect((await ask('/agent/v1/x')).status).toBe(503);
    relay.pointTo('http://127.0.0.1:1');
    expect((await ask('/agent/v1/x')).status).toBe(503);
  });
});
