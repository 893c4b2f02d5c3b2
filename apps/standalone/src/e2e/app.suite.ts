import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api } from './api.fixture.js';
import { anOwner, mintToken, PEOPLE, type AgentOwner } from './end-users.fixture.js';
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

/** Headers without those that a test has set to undefined. */
const present = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));

/** The app of an agent, at its own origin. `addresses`: where its program can listen, besides 127.0.0.1. */
export const describeAppProxy = (
  stack: () => Stack,
  addresses: readonly string[] = ['0.0.0.0', '::', '::1'],
): void => {
  const api = new Api(stack);

  const hostOf = (agentId: string): string =>
    `${agentId.replace('_', '-')}.apps.localhost:${new URL(stack().urls[0] ?? '').port}`;

  const sendAt = async (
    gateway: number,
    agentId: string,
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: { method?: string; headers?: OutgoingHttpHeaders; body?: Buffer } = {},
  ): Promise<AppResponse> => {
    const request = httpRequest(`http://127.0.0.1:${new URL(stack().urls.at(gateway) ?? '').port}`, {
      method,
      path,
      headers: present({ host: hostOf(agentId), authorization: `Bearer ${stack().key}`, ...headers }),
    });
    request.end(body);
    const [response] = await once(request, 'response');
    return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
  };

  const send = (
    agentId: string,
    path: string,
    options?: Parameters<typeof sendAt>[3],
  ): Promise<AppResponse> => sendAt(0, agentId, path, options);

  describe('an app', () => {
    /** An app that listens on 127.0.0.1, of an end user. */
    let owner: AgentOwner;
    let id: string;
    beforeAll(async () => {
      owner = await anOwner(api, { templateId: 'app', idleTtlSeconds: 15 });
      id = owner.agentId;
    }, 60_000);

    it.each(addresses)('is reached wherever it listens: %s', async (address) => {
      const env = [{ key: 'LISTEN_ON', value: address }];
      const { id: elsewhere } = await api.runningAgent({ templateId: 'app', env });
      const { status, text } = await send(elsewhere, '/seen?a=1&b=%20');
      const seen = JSON.parse(text) as Seen;
      expect([status, seen.method, seen.url]).toEqual([200, 'GET', '/seen?a=1&b=%20']);
      expect(seen.rawHeaders.join('\n')).not.toContain('mk_');
    });

    it('gets paths as they were sent, also those that are not UTF-8', async () => {
      for (const path of ['/caf%E9', '/100%', '/%zz']) {
        // The app has no such pages.
        const { status, text } = await send(id, path);
        expect([status, text], path).toEqual([404, 'no such page']);
        expect((await send(id, path, { headers: { authorization: undefined } })).status, path).toBe(401);
      }
    });

    it('is entered with a token, whose cookie works at every gateway for HTTP and WebSockets until the token ends', async () => {
      const { externalId } = owner;
      const token = await mintToken(api, owner, ['app']);
      const entered = await send(id, `/.berth/enter?token=${token}`, {
        headers: { authorization: undefined },
      });
      expect([entered.status, entered.headers.location]).toEqual([303, '/']);
      const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
      expect(cookie).not.toContain(token);
      const browser = { authorization: undefined, cookie };
      for (const headers of [browser, { authorization: `Bearer ${token}` }]) {
        for (const method of ['GET', 'POST', 'OPTIONS']) {
          const { status, text } = await sendAt(-1, id, '/seen', { method, headers });
          expect([status, (JSON.parse(text) as Seen).method]).toEqual([200, method]);
          const { rawHeaders } = JSON.parse(text) as Seen;
          expect(rawHeaders[rawHeaders.indexOf('X-Berth-External-User-Id') + 1]).toBe(externalId);
          expect(rawHeaders.join('\n')).not.toMatch(/berth_app|eu_/);
        }
        const { status, text } = await sendAt(-1, id, '/seen', { method: 'HEAD', headers });
        expect([status, text]).toEqual([200, '']);
      }
      const open = (origin: string): WebSocket =>
        new WebSocket(`ws://127.0.0.1:${new URL(stack().urls.at(-1) ?? '').port}/socket`, {
          headers: { host: hostOf(id), cookie, origin },
        });
      const socket = open(`http://${hostOf(id)}`);
      await once(socket, 'open');
      socket.send('hello');
      expect(String((await once(socket, 'message'))[0])).toBe('hello');
      const foreign = open('http://elsewhere.test');
      const [, refused] = (await once(foreign, 'unexpected-response')) as [unknown, { statusCode: number }];
      expect(refused.statusCode).toBe(403);
      const closed = once(socket, 'close');
      await api.call('DELETE', `${PEOPLE}/${externalId}/tokens`);
      expect((await sendAt(-1, id, '/seen', { headers: browser })).status).toBe(401);
      await closed;
    });

    it('is woken by a request, and kept awake by an open socket', async () => {
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
      await eventually(() => Date.now() > until, { timeoutMs: 4_000, intervalMs: 250 });
      expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ state: 'running', sleepAt: null });
      socket.close();
      await eventually(async () => (await api.get(`/api/agents/${id}`)).body['sleepAt'] !== null, {
        timeoutMs: 10_000,
      });
    });
  });
};
