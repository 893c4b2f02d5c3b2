import { endUsersRequests } from '@berth/contracts/end-users';
import { newId } from '@berth/kernel';
import { NatsLink, Requester } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { Api } from './api.fixture.js';
import { describeAppProxy } from './app.suite.js';
import { describeAuditOfEndUsers } from './audit-api.suite.js';
import { describeCaps } from './caps.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeEndUserSuspension } from './end-user-suspension.suite.js';
import { describeEndUsersApi } from './end-users-api.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { describeIdleTime } from './idle-time.suite.js';
import { describeIsolation } from './isolation.suite.js';
import { describeRequestRate, describeTokensApi } from './tokens-api.suite.js';
import { describeOpenStreams } from './open-streams.suite.js';
import { describePoliciesApi } from './policies-api.suite.js';
import { startSeparateStack, type SeparateStack } from './separate-processes.fixture.js';
import { temporaryFolder } from './stack.fixture.js';
import { describeWebhookCallers } from './webhook-callers.suite.js';
import { describeWebhooks } from './webhooks.suite.js';

const folder = temporaryFolder();
let stack: SeparateStack | undefined;
const running = (): SeparateStack => {
  if (stack === undefined) throw new Error('The stack did not start.');
  return stack;
};

beforeAll(async () => {
  stack = await startSeparateStack(folder.path);
});

afterAll(async () => {
  await stack?.stop();
  folder.remove();
});

describe('every service as a separate process, with two each of gateway, agents and exec', () => {
  describeAgentsApi(running);
  describeAccountApi(running);
  describeAccountsApi(running);
  describeIsolation(running);
  describeEndUsersApi(running);
  describePoliciesApi(running);
  describeCaps(running, async () => {
    await running().replace('agents');
    await running().replace('agents-2');
  });
  describeTokensApi(running);
  describeEndUserSuspension(running);
  describeRequestRate(running);
  describeOpenStreams(running);
  describeAuditOfEndUsers(running);
  describeEnvironmentApi(running);
  describeExecApi(running);
  describeExecAndAgents(running);
  describeFilesApi(running);
  describeFileTransfers(running);
  describeFileChanges(running);
  describeConsoleApi(running);
  describeIdleTime(running);
  describeAppProxy(running);
  describeWebhooks(running);
  describeWebhookCallers(running);

  describe('a killed service', () => {
    const api = new Api(running);

    const suspend = async (externalId: string): Promise<void> => {
      const { id: accountId } = (await api.get<{ id: string }>('/api/v1/account')).body;
      const url = running().infrastructure.natsUrlOf('gateway');
      const link = await NatsLink.open({
        url,
        name: 'gateway',
        log: createLogger({ service: 'test', level: 'silent' }),
      });
      const command = {
        commandId: newId('cmd'),
        accountId,
        externalId,
        actor: { kind: 'system', id: 'test' },
      } as const;
      try {
        await expect(new Requester(link).request(endUsersRequests.suspend, command)).rejects.toMatchObject({
          kind: 'unavailable',
        });
      } finally {
        await link.close();
      }
    };

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
      await api.post(`/api/agents/${own.id}/sleep`);
      expect((await api.chat(own.id, 'hello')).status).toBe(200);
      await running().replace('end-users');
      await eventually(
        async () => expect((await api.chat(id, 'hello', { key: body.token })).status).toBe(200),
        { timeoutMs: 30_000, intervalMs: 100 },
      );
    });

    it('agents: learn of a suspension during their absence when they are back', async () => {
      const path = '/api/v1/end-users/absent';
      await api.call('PUT', path, { body: {} });
      const { id } = await api.runningAgent({ externalUserId: 'absent', idleTtlSeconds: 0 });
      for (const name of ['agents', 'agents-2']) await running().programs.get(name)?.end('SIGKILL');
      // The gateway suspends nobody while the agents cannot be counted; this is a command that it sent just before.
      await suspend('absent');
      for (const name of ['agents', 'agents-2']) await running().replace(name);
      await api.inState(id, 'sleeping', 30_000);
      await eventually(
        async () =>
          expect((await api.chat(id, 'hello')).body).toMatchObject({
            detail: { code: 'end_user_suspended' },
          }),
        { timeoutMs: 10_000 },
      );
    });

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
});
