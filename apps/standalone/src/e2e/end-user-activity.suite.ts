import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { openConsole } from './console.suite.js';
import { anOwner, mintToken, PEOPLE, type AgentOwner, type EndUserPage } from './end-users.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/** What counts as activity of an end user, over the public API. */
export const describeEndUserActivity = (stack: () => Stack): void => {
  const api = new Api(stack);

  const openApp = async ({ agentId }: AgentOwner): Promise<void> => {
    const headers = {
      host: `${agentId.replace('_', '-')}.apps.localhost`,
      authorization: `Bearer ${stack().key}`,
    };
    const request = httpRequest(`${stack().urls.at(-1) ?? ''}/seen`, { headers, agent: false }).end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
  };

  const attach = async ({ agentId }: AgentOwner): Promise<void> => {
    const { socket } = openConsole(stack(), agentId);
    await once(socket, 'open');
    socket.terminate();
  };

  /** Those that need a program; the agents of others have none. */
  const WITH_PROGRAM = ['chat', 'webhook', 'app request'];

  /** One of each kind, with the key of the owner but for the last. */
  const USES: Readonly<Record<string, (owner: AgentOwner) => Promise<unknown>>> = {
    chat: ({ agentId }) => api.chat(agentId, 'hello'),
    webhook: ({ agentId }) => new Webhook(stack, api, agentId).accepted('hello'),
    'file call': ({ agentId }) => new Files(stack, agentId).list(),
    command: ({ agentId }) => new Executions(api, agentId).run('true'),
    console: attach,
    'app request': openApp,
    'use of a token': async (owner) =>
      api.get(`/api/agents/${owner.agentId}`, { key: await mintToken(api, owner, ['logs']) }),
  };

  /** With the key of the owner. */
  const withoutUse = async ({ agentId, externalId }: AgentOwner): Promise<void> => {
    const path = `/api/agents/${agentId}`;
    for (const read of ['', '/logs', '/env', '/exec', '/schedules', '/deployments'])
      expect([read, (await api.get(`${path}${read}`)).status]).toEqual([read, 200]);
    for (const verb of ['sleep', 'start', 'restart', 'stop'])
      expect([verb, (await api.post(`${path}/${verb}`)).status]).toEqual([verb, 200]);
    await api.call('PUT', `${PEOPLE}/${externalId}`, { body: { tags: ['seldom'] } });
    await mintToken(api, { agentId, externalId }, ['chat']);
  };

  const lastActiveAt = async ({ externalId }: AgentOwner): Promise<unknown> =>
    (await api.get(`${PEOPLE}/${externalId}`)).body['lastActiveAt'];
  const listed = async ({ externalId }: AgentOwner, filter: string): Promise<number> =>
    (await api.get<EndUserPage>(`${PEOPLE}?externalIdPrefix=${externalId}&${filter}`)).body.items.length;

  describe('an end user', () => {
    it('was active when its agent or a token was used, in whatever way, and not when its owner manages the agent', async () => {
      const idle = await anOwner(api, { templateId: 'blank' });
      await withoutUse(idle);
      const before = new Date().toISOString();
      const active = await Promise.all(
        Object.entries(USES).map(async ([kind, use]) => {
          const templateId = WITH_PROGRAM.includes(kind) ? 'app' : 'blank';
          const owner = await anOwner(api, { templateId });
          expect([kind, await lastActiveAt(owner)]).toEqual([kind, null]);
          await use(owner);
          const at = await eventually(
            async () => {
              const seen = await lastActiveAt(owner);
              expect([kind, typeof seen]).toEqual([kind, 'string']);
              return String(seen);
            },
            { intervalMs: 250 },
          );
          return { kind, owner, at };
        }),
      );
      const after = new Date().toISOString();
      for (const { kind, owner, at } of active) {
        expect([kind, before <= at && at <= after]).toEqual([kind, true]);
        const later = new Date(Date.parse(at) + 1).toISOString();
        expect([
          await listed(owner, `lastActiveAfter=${before}&lastActiveBefore=${later}`),
          await listed(owner, `lastActiveAfter=${at}`),
          await listed(owner, `lastActiveBefore=${at}`),
        ]).toEqual([1, 0, 0]);
      }
      // What it did before would have arrived before the uses of the others.
      expect(await lastActiveAt(idle)).toBeNull();
      expect(await listed(idle, `lastActiveBefore=${after}`)).toBe(0);
    });
  });
};
