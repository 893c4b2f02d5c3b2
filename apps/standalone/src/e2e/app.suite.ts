import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

interface AppResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
}

/** The app of an agent, at its own origin. */
export const describeAppProxy = (stack: () => Stack): void => {
  const api = new Api(stack);

  const hostOf = (agentId: string): string =>
    `${agentId.replace('_', '-')}.apps.localhost:${new URL(stack().urls[0] ?? '').port}`;

  const send = async (
    agentId: string,
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: { method?: string; headers?: OutgoingHttpHeaders; body?: Buffer } = {},
  ): Promise<AppResponse> => {
    const request = httpRequest(`http://127.0.0.1:${new URL(stack().urls[0] ?? '').port}`, {
      method,
      path,
      headers: { host: hostOf(agentId), authorization: `Bearer ${stack().key}`, ...headers },
    });
    request.end(body);
    const [response] = await once(request, 'response');
    return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
  };

  const anApp = (listenOn = '127.0.0.1', more: Record<string, unknown> = {}) =>
    api.runningAgent({ templateId: 'app', env: [{ key: 'LISTEN_ON', value: listenOn }], ...more });

  describe('an app', () => {
    it.each(['127.0.0.1', '0.0.0.0', '::', '::1'])('is reached wherever it listens: %s', async (address) => {
      const { id } = await anApp(address);
      const { status, text } = await send(id, '/seen?a=1&b=%20');
      const seen = JSON.parse(text) as Seen;
      expect([status, seen.method, seen.url]).toEqual([200, 'GET', '/seen?a=1&b=%20']);
      expect(seen.rawHeaders.join('\n')).not.toContain('mk_');
    });

    it('is woken by a request, and kept awake by an open socket', async () => {
      const { id } = await anApp('127.0.0.1', { idleTtlSeconds: 15 });
      await api.post(`/api/agents/${id}/sleep`);
      expect((await send(id, '/seen')).status).toBe(200);
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({
        state: 'running',
        lastActivityKind: 'app',
      });
      const socket = new WebSocket(`ws://127.0.0.1:${new URL(stack().urls[0] ?? '').port}/socket`, {
        headers: { host: hostOf(id), authorization: `Bearer ${stack().key}` },
      });
      await once(socket, 'open');
      socket.send('hello');
      expect(String((await once(socket, 'message'))[0])).toBe('hello');
      // Longer than connections are kept for other requests.
      const until = Date.now() + 2_000;
      await eventually(() => Date.now() > until, { timeoutMs: 4_000, intervalMs: 100 });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ state: 'running', sleepAt: null });
      socket.close();
      await eventually(async () => (await api.get(`/api/agents/${id}`)).body['sleepAt'] !== null, {
        timeoutMs: 10_000,
      });
    });
  });
};
