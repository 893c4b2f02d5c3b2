import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api } from './api.fixture.js';
import { anOwner, mintToken, PEOPLE, type AgentOwner } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The promised time between the end of a credential and that of its sockets and streams. */
const WITHIN_MS = 5_000;
/** The shortest there is. */
const TTL_SECONDS = 30;
const SCOPES = ['console', 'logs', 'app', 'files'];

/** One socket or stream; `closed` resolves with its name. */
interface Open {
  readonly closed: Promise<string>;
  leave(): void;
}

const NAMES = ['console', 'logs', 'app', 'socket of the app', 'upload'];
/** The content of the upload. */
const UPLOADED = 'cut-off.txt';

/** Sockets, streams and uploads that were begun with a token end with it. They are open at one gateway, and the token ends at another. */
export const describeOpenStreams = (stack: () => Stack): void => {
  const api = new Api(stack);

  const socket = async (name: string, path: string, headers: Record<string, string>): Promise<Open> => {
    const ws = new WebSocket(`${stack().urls.at(-1)?.replace('http', 'ws') ?? ''}${path}`, { headers });
    await once(ws, 'open');
    const closed = new Promise<string>((resolve) => ws.once('close', () => resolve(name)));
    return { closed, leave: () => ws.terminate() };
  };

  const stream = async (name: string, path: string, headers: Record<string, string>): Promise<Open> => {
    const request = httpRequest(`${stack().urls.at(-1) ?? ''}${path}`, { headers, agent: false });
    request.end();
    const [response] = await once(request, 'response');
    expect([name, response.statusCode]).toEqual([name, 200]);
    await once(response, 'data');
    response.on('error', () => undefined).resume();
    const closed = new Promise<string>((resolve) => response.once('close', () => resolve(name)));
    return { closed, leave: () => void request.destroy() };
  };

  /** A file that keeps coming; the end of its credential is its response. */
  const upload = async (agentId: string, authorization: string): Promise<Open> => {
    const url = `${stack().urls.at(-1) ?? ''}/api/agents/${agentId}/files/write`;
    const headers = { authorization, 'content-type': 'application/json', expect: '100-continue' };
    const request = httpRequest(url, { method: 'PUT', headers, agent: false });
    request.flushHeaders();
    await once(request, 'continue');
    request.write(`{"path":"${UPLOADED}","content":"`);
    const more = setInterval(() => request.write('more'), 500);
    const closed = new Promise<string>((resolve) => {
      request.once('response', ({ statusCode = 0 }) =>
        resolve(statusCode >= 400 ? 'upload' : `upload: ${statusCode}`),
      );
      request.on('error', () => resolve('upload'));
    });
    const leave = (): void => void request.destroy(new Error('The client leaves.'));
    void closed.then(() => {
      clearInterval(more);
      leave();
    });
    return { closed, leave };
  };

  const openAll = async ({ agentId }: AgentOwner, token: string): Promise<readonly Open[]> => {
    const bearer = { authorization: `Bearer ${token}` };
    const app = { ...bearer, host: `${agentId.replace('_', '-')}.apps.localhost` };
    const agent = `/api/agents/${agentId}`;
    return [
      await (token.startsWith('eu_')
        ? socket('console', `${agent}/console?token=${token}`, {})
        : socket('console', `${agent}/console`, bearer)),
      await stream('logs', `${agent}/logs?follow=true`, bearer),
      await stream('app', '/events', app),
      await socket('socket of the app', '/socket', app),
      await upload(agentId, bearer.authorization),
    ];
  };

  /** All of them, once they are closed. */
  const closed = (open: readonly Open[]): Promise<readonly string[]> =>
    Promise.all(open.map((one) => one.closed));

  const expectClosed = async (open: readonly Open[], since: number): Promise<void> => {
    expect(await closed(open)).toEqual(NAMES);
    expect(Date.now() - since).toBeLessThan(WITHIN_MS);
  };

  describe('the open sockets and streams of a token', () => {
    let owner: AgentOwner;
    let expiring: { readonly open: readonly Open[]; readonly earliest: number; readonly latest: number };

    beforeAll(async () => {
      owner = await anOwner(api, { templateId: 'app' });
      const earliest = Date.now() + TTL_SECONDS * 1_000;
      const token = await mintToken(api, owner, SCOPES, { ttlSeconds: TTL_SECONDS });
      const latest = Date.now() + TTL_SECONDS * 1_000;
      expiring = { open: await openAll(owner, token), earliest, latest };
    }, 60_000);

    it('close within 5 s of its revocation, and those of a key stay open', async () => {
      const lasting = await openAll(owner, stack().key);
      const ended: string[] = [];
      for (const one of lasting) void one.closed.then((name) => ended.push(name));
      const other = await anOwner(api, { templateId: 'app' });
      const open = await openAll(other, await mintToken(api, other, SCOPES));
      await api.call('DELETE', `${PEOPLE}/${other.externalId}/tokens`);
      await expectClosed(open, Date.now());
      const { entries } = (await api.get<{ entries: object[] }>(`/api/agents/${other.agentId}/files/list`))
        .body;
      expect(entries).not.toContainEqual(expect.objectContaining({ name: UPLOADED }));
      expect(ended).toEqual([]);
      for (const one of lasting) one.leave();
      expect(await closed(lasting)).toEqual(NAMES);
    });

    it('close within 5 s of the deletion of its end user, and so do the logs that a key follows', async () => {
      const other = await anOwner(api, { templateId: 'app' });
      const open = await openAll(other, await mintToken(api, other, SCOPES));
      const authorization = `Bearer ${stack().key}`;
      const followed = await stream('logs', `/api/agents/${other.agentId}/logs?follow=true`, {
        authorization,
      });
      await api.call('DELETE', `${PEOPLE}/${other.externalId}`);
      const deletedAt = Date.now();
      await expectClosed(open, deletedAt);
      await followed.closed;
      expect(Date.now() - deletedAt).toBeLessThan(WITHIN_MS);
    });

    it('stay open until it expires, and close within 5 s of that', async () => {
      await Promise.race(expiring.open.map((one) => one.closed));
      expect(Date.now()).toBeGreaterThanOrEqual(expiring.earliest);
      await expectClosed(expiring.open, expiring.latest);
    });
  });
};
