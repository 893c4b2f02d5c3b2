import { SERVICES } from '@berth/contracts/operations';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { Api } from './api.fixture.js';
import { describeDeploys } from './compose-deploy.suite.js';
import { describeHosts } from './compose-hosts.suite.js';
import { ComposeStack } from './compose.fixture.js';
import { describeConsoleApi } from './console.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { describeIdleTime } from './idle-time.suite.js';

const PROCESSES = ['proxy', 'gateway', ...SERVICES, 'runtime', 'nats', 'eventstore', 'postgres'];

let stack: ComposeStack;

beforeAll(async () => {
  stack = await ComposeStack.prepare();
  const startedAt = Date.now();
  await stack.compose('up', '--detach', '--build');
  await stack.healthy(60_000);
  process.stdout.write(`Built and started in ${String(Math.round((Date.now() - startedAt) / 1000))} s.\n`);
  await stack.readKey();
});

afterAll(async () => {
  await stack.stop();
});

describe('docker compose up', () => {
  describeAgentsApi(() => stack);
  describeAccountApi(() => stack);
  describeEnvironmentApi(() => stack);
  describeExecApi(() => stack);
  describeExecAndAgents(() => stack);
  describeFilesApi(() => stack);
  describeFileTransfers(() => stack, 'absent');
  describeFileChanges(() => stack);
  describeConsoleApi(() => stack);
  describeIdleTime(() => stack);
  describeHosts(() => stack);
  describeDeploys(() => stack);

  describe('a service', () => {
    const api = new Api(() => stack);

    const works = async (id: string): Promise<void> => {
      await eventually(async () => expect((await api.chat(id, 'back?')).status).toBe(200), {
        timeoutMs: 30_000,
        intervalMs: 200,
      });
    };

    it.each(PROCESSES)('%s: calls succeed within 30 s after its process was killed', async (service) => {
      const { id } = await api.runningAgent();
      await stack.crash(service);
      await works(id);
      await stack.healthy(30_000);
    });

    it.each(PROCESSES)('%s: calls succeed within 30 s after docker compose restart', async (service) => {
      const { id } = await api.runningAgent();
      await stack.compose('restart', service);
      await works(id);
      await stack.healthy(30_000);
    });

    it.each(PROCESSES)(
      '%s: calls succeed within 30 s after docker kill and docker compose up',
      async (service) => {
        const { id } = await api.runningAgent();
        await stack.compose('kill', service);
        await stack.compose('up', '--detach');
        await works(id);
        await stack.healthy(30_000);
      },
    );
  });
});
