import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { Api } from './api.fixture.js';
import { describeAppProxy } from './app.suite.js';
import { describeConsoleApi } from './console.suite.js';
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
import { startSeparateStack, type SeparateStack } from './separate-processes.fixture.js';
import { temporaryFolder } from './stack.fixture.js';

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
  describeTokensApi(running);
  describeRequestRate(running);
  describeOpenStreams(running);
  describeEnvironmentApi(running);
  describeExecApi(running);
  describeExecAndAgents(running);
  describeFilesApi(running);
  describeFileTransfers(running);
  describeFileChanges(running);
  describeConsoleApi(running);
  describeIdleTime(running);
  describeAppProxy(running);

  describe('a killed service', () => {
    const api = new Api(running);

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
