import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { describeCaps } from './caps.suite.js';
import { describeDrains } from './drains.suite.js';
import { anOwner, fresh, PEOPLE, type AgentOwner } from './end-users.fixture.js';
import { describeKilledSenders } from './killed-senders.suite.js';
import { describeKilledLlm } from './llm-calls.suite.js';
import { provideModels } from './llm.fixture.js';
import { describeRecount } from './recount.suite.js';
import { describeState, startSeparateStack, type SeparateStack } from './separate-processes.fixture.js';
import { temporaryFolder } from './stack.fixture.js';
import { holdTable } from './tables.fixture.js';
const folder = temporaryFolder();
let stack: SeparateStack | undefined;
let upstream: FakeUpstream | undefined;
const fakeUpstream = (): FakeUpstream => {
  if (upstream === undefined) throw new Error('The upstream did not start.');
  return upstream;
};
const running = (): SeparateStack => {
  if (stack === undefined) throw new Error('The stack did not start.');
  return stack;
};

beforeAll(async () => {
  const models = await provideModels(folder.path);
  upstream = models.upstream;
  stack = await startSeparateStack(folder.path, models.env);
});

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    process.stderr.write(`${task.name}\n${await describeState(running())}\n`);
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.stop();
  folder.remove();
});

describe('every service as a separate process, with two each of gateway, agents, exec and schedules', () => {
  describeCaps(running, async () => {
    await running().replace('agents');
    await running().replace('agents-2');
  });
  describeKilledLlm(running, fakeUpstream);
  describeDrains(running, fakeUpstream);

  describe('a killed service', () => {
    const api = new Api(running);
    describeKilledSenders(running);

    it.each(['accounts', 'agents', 'delivery', 'runtime', 'gateway'])(
      '%s: chats that reach the gateway end within 6 s while it is down, and succeed within 30 s of its restart',
      async (name) => {
        const { id } = await api.runningAgent();
        await running().programs.get(name)?.end('SIGKILL');
        if (name !== 'gateway') {
          const startedAt = Date.now();
          const during = await api.chat(id, 'anybody?');
          expect(Date.now() - startedAt).toBeLessThan(6_000);
          expect([200, 503]).toContain(during.status);
        }
        await running().replace(name);
        await eventually(async () => expect((await api.chat(id, 'back?')).status).toBe(200), {
          timeoutMs: 30_000,
          intervalMs: 100,
        });
      },
    );

    it('end-users: its absence fails calls on behalf of end users within 5 s, and nothing else', async () => {
      const own = await api.runningAgent();
      const path = '/api/v1/end-users/bereft';
      await api.call('PUT', path, { body: {} });
      const { id } = await api.runningAgent({ externalUserId: 'bereft' });
      const { body } = await api.post<{ token: string }>(`${path}/tokens`, { scopes: ['chat'] });
      await running().programs.get('end-users')?.end('SIGKILL');
      const startedAt = Date.now();
      expect((await api.chat(id, 'hello', { key: body.token })).status).toBe(503);
      expect((await api.post(`${path}/suspend`)).status).toBe(503);
      expect(Date.now() - startedAt).toBeLessThan(10_000);
      // The owner's call to an awake agent asks nobody about its end user.
      expect((await api.chat(id, 'hello')).status).toBe(200);
      await api.post(`/api/agents/${own.id}/sleep`);
      expect((await api.chat(own.id, 'hello')).status).toBe(200);
      await running().replace('end-users');
      await eventually(
        async () => expect((await api.chat(id, 'hello', { key: body.token })).status).toBe(200),
        { timeoutMs: 30_000, intervalMs: 100 },
      );
    });

    const endAgents = async (): Promise<void> => {
      for (const name of ['agents', 'agents-2']) await running().programs.get(name)?.end('SIGKILL');
    };
    const replaceAgents = async (): Promise<void> => {
      for (const name of ['agents', 'agents-2']) await running().replace(name);
    };

    it('agents: in the middle of creating the agent of an end user leaves it to the next calls, which get one', async () => {
      const path = `${PEOPLE}/${fresh('interrupted')}/agents`;
      const creation = { templateId: 'blank', env: { A: '1' } };
      const vault = await holdTable(running().dataDir, 'agents.env_vault');
      const interrupted = api.post(path, creation);
      // By now it has reserved its names.
      await eventually(async () => (await vault.waiting()) > 0, { timeoutMs: 30_000, intervalMs: 20 });
      await endAgents();
      await vault.release();
      expect((await interrupted).status).toBe(503);
      await replaceAgents();
      const calls = await eventually(
        async () => {
          const responses = await Promise.all(
            [1, 2, 3, 4, 5].map(() => api.post<{ id: string }>(path, creation)),
          );
          expect(responses.map(({ status }) => status)).not.toContain(503);
          return responses;
        },
        { timeoutMs: 60_000 },
      );
      expect([200, 201]).toEqual(expect.arrayContaining([...new Set(calls.map(({ status }) => status))]));
      const [id, ...others] = new Set(calls.map(({ body }) => body.id));
      expect(others).toEqual([]);
      expect((await api.get<{ items: object[] }>(path)).body.items).toMatchObject([{ id }]);
    }, 120_000);

    it('agents: a suspension or policy in their absence is 503 and changes nothing, and a suspension that meets their end holds or not for all', async () => {
      const owners = await Promise.all([1, 2, 3, 4].map(() => anOwner(api, { idleTtlSeconds: 0 })));
      const suspend = ({ externalId }: AgentOwner) => api.post(`${PEOPLE}/${externalId}/suspend`);
      const [first, ...others] = owners as [AgentOwner, ...AgentOwner[]];
      await endAgents();
      const refused = await suspend(first);
      expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable']);
      const policies = [`${PEOPLE}/${first.externalId}/policy`, '/api/v1/end-user-defaults'];
      for (const path of policies) {
        const put = await api.call('PUT', path, { body: { policy: { wakes_per_hour: 1 } } });
        expect([put.status, codeOf(put)]).toEqual([503, 'service_unavailable']);
      }
      await replaceAgents();
      await api.inState(first.agentId, 'running', 30_000);
      for (const path of policies) expect((await api.get(path)).body['policy']).toBeNull();
      expect((await api.get(`${PEOPLE}/${first.externalId}`)).body).toMatchObject({
        ...{ status: 'active', suspendedAt: null },
      });
      await eventually(async () => expect((await api.chat(first.agentId, 'hello')).status).toBe(200), {
        timeoutMs: 30_000,
      });

      const met = Promise.all(others.map(suspend));
      await endAgents();
      const outcomes = await met;
      await replaceAgents();
      for (const [index, { externalId, agentId }] of others.entries()) {
        const { body } = await eventually(
          async () => {
            const read = await api.get<{ status: string }>(`${PEOPLE}/${externalId}`);
            expect(read.status).toBe(200);
            return read;
          },
          { timeoutMs: 30_000 },
        );
        expect([200, 503]).toContain(outcomes[index]?.status);
        if (outcomes[index]?.status === 200) expect(body.status).toBe('suspended');
        const isSuspended = body.status === 'suspended';
        if (isSuspended) await api.inState(agentId, 'sleeping', 30_000);
        await eventually(
          async () => expect((await api.chat(agentId, 'hello')).status).toBe(isSuspended ? 403 : 200),
          { timeoutMs: 30_000 },
        );
        expect((await suspend({ externalId, agentId })).status).toBe(200);
      }
    }, 120_000);

    it('runtime: leaves its agents running, and the restarted runtime takes them over', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const before = (await api.chat(id, 'started')).body.response;
      await running().replace('runtime');
      await eventually(async () => expect((await api.chat(id, 'started')).body.response).toBe(before), {
        timeoutMs: 30_000,
        intervalMs: 100,
      });
    });
  });

  describeRecount(running);
});
