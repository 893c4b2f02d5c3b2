import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeHttpFramings, eventually, RequestRecorder } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiRelay } from './api-relay.js';

describe('the relay from an agent to the API', () => {
  let folder: string;
  let relay: ApiRelay;
  let host: Server;
  /** What the host's end of the socket does with a request. */
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let recorder: RequestRecorder;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-relay-'));
    relay = await ApiRelay.open(join(folder, 'api.sock'));
    respond = (request, response) => {
      const { method = '', url = '', headers } = request;
      response.writeHead(201, { 'x-seen': `${method} ${url} ${headers.authorization ?? ''}` });
      request.pipe(response);
    };
    recorder = new RequestRecorder();
    host = createServer((request, response) => respond(request, response));
  });

  afterEach(async () => {
    await relay.close();
    host.closeAllConnections();
    host.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const listen = (): Promise<unknown> => once(host.listen(join(folder, 'api.sock')), 'listening');

  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${relay.port}${path}`, init);

  describe('with a host', () => {
    beforeEach(async () => {
      await listen();
      respond = recorder.respond;
    });
    describeHttpFramings(() => ({
      target: { port: relay.port, host: '127.0.0.1' },
      recorder,
      head: (method) => [`${method} /agent/v1/self HTTP/1.1`, 'Host: x'],
    }));
  });

  it('forwards requests and responses unchanged', async () => {
    await listen();
    const response = await ask('/agent/v1/llm/x?y=1', {
      method: 'POST',
      body: 'hello',
      headers: { authorization: 'Bearer t' },
    });
    expect([response.status, response.headers.get('x-seen')]).toEqual([
      201,
      'POST /agent/v1/llm/x?y=1 Bearer t',
    ]);
    expect(await response.text()).toBe('hello');
  });

  it('returns an error of the API, and when to try again, exactly while the host has no socket', async () => {
    const refused = await ask('/agent/v1/self');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await refused.json()).toMatchObject({ detail: { code: 'service_unavailable' } });
    await listen();
    expect((await ask('/agent/v1/self')).status).toBe(201);
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
    expect((await ask('/agent/v1/self', { method: 'POST', body: 'x'.repeat(1_000_000) })).status).toBe(503);
  });

  it('passes on that a program hangs up, and that the host does', async () => {
    await listen();
    const pending: ServerResponse[] = [];
    respond = (_request, response) => {
      pending.push(response);
      response.write('begun');
    };
    const controller = new AbortController();
    const left = await ask('/agent/v1/llm/x', { signal: controller.signal });
    expect(left.status).toBe(200);
    controller.abort();
    await eventually(() => pending[0]?.destroyed === true);
    const cut = await ask('/agent/v1/llm/x');
    pending[1]?.destroy();
    await expect(cut.text()).rejects.toThrow();
  });
});
