import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@berth/contracts/operations';
import { eventually } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAgentApi } from './agent-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { describeAnalytics } from './analytics.suite.js';
import { Api } from './api.fixture.js';
import { describeAppProxy } from './app.suite.js';
import { describeAuditApi } from './audit-api.suite.js';
import { describeCaps } from './caps.suite.js';
import { describeDeploys } from './compose-deploy.suite.js';
import { describeHosts } from './compose-hosts.suite.js';
import { describeOutages } from './compose-outages.suite.js';
import { ComposeStack, THIS_MACHINE } from './compose.fixture.js';
import { describeConsoleCommand } from './console-command.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeEndUserActivity } from './end-user-activity.suite.js';
import { describeEndUserAgents } from './end-user-agents.suite.js';
import { describeEndUserSuspension } from './end-user-suspension.suite.js';
import { describeEndUserTokens } from './end-user-tokens.suite.js';
import { describeEndUsersApi } from './end-users-api.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFeedback } from './feedback.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { describeHeldMessages } from './held-messages.suite.js';
import { describeIdleTime } from './idle-time.suite.js';
import { describeIsolation } from './isolation.suite.js';
import { describeLlm } from './llm-calls.suite.js';
import { describeLlmInside } from './llm-inside.suite.js';
import { provideModels } from './llm.fixture.js';
import { describeOpenStreams } from './open-streams.suite.js';
import { describePlans } from './plans.suite.js';
import { describePoliciesApi } from './policies-api.suite.js';
import { describeRecount } from './recount.suite.js';
import { describeSchedules } from './schedules.suite.js';
import { describeShownSecrets } from './shown-secrets.suite.js';
import { describeTokensApi } from './tokens-api.suite.js';
import { describeUsage } from './usage-api.suite.js';
import { describeWebhookCallers } from './webhook-callers.suite.js';
import { describeWebhookQueue } from './webhook-queue.suite.js';
import { describeWebhooks } from './webhooks.suite.js';

const PROCESSES = ['proxy', 'gateway', ...SERVICES, 'runtime', 'nats', 'eventstore', 'postgres'];

let stack: ComposeStack;
let upstream: FakeUpstream;

beforeAll(async () => {
  stack = await ComposeStack.prepare('clone');
  const models = await provideModels(stack.dataDir, THIS_MACHINE);
  upstream = models.upstream;
  const keys = Object.entries(models.env).map(([name, value]) => `${name}=${value ?? ''}\n`);
  writeFileSync(join(stack.clone, '.data/compose/providers.env'), keys.join(''));
  const startedAt = Date.now();
  await stack.compose('up', '--detach', '--build', '--wait');
  process.stdout.write(`Built and started in ${String(Math.round((Date.now() - startedAt) / 1000))} s.\n`);
  await stack.healthy(60_000);
  await stack.readKey();
});

afterAll(async () => {
  await stack.stop();
  await upstream.stop();
});

describe('docker compose up', () => {
  describeAgentsApi(() => stack);
  describeAgentApi(() => stack);
  describeAnalytics(() => stack);
  describeAccountApi(() => stack);
  describeAccountsApi(() => stack);
  describeIsolation(() => stack);
  describeEndUsersApi(() => stack);
  describeEndUserAgents(() => stack);
  describeEndUserActivity(() => stack);
  describeEndUserTokens(() => stack);
  describePoliciesApi(() => stack);
  describeCaps(
    () => stack,
    async () => void (await stack.compose('restart', 'agents')),
  );
  describePlans(() => stack, {
    hangUp: () => void stack.hangUp(),
    printed: () => stack.compose('logs', '--no-color', '--no-log-prefix'),
  });
  describeTokensApi(() => stack);
  describeShownSecrets(() => stack);
  describeEndUserSuspension(() => stack);
  describeOpenStreams(() => stack);
  describeAuditApi(() => stack);
  describeUsage(() => stack);
  describeEnvironmentApi(() => stack);
  describeExecApi(() => stack);
  describeExecAndAgents(() => stack);
  describeFilesApi(() => stack);
  describeFileTransfers(() => stack);
  describeFileChanges(() => stack);
  describeConsoleApi(() => stack);
  describeHeldMessages(() => stack);
  describeIdleTime(
    () => stack,
    () => upstream,
  );
  describeSchedules(() => stack);
  describeLlm(
    () => stack,
    () => upstream,
  );
  describeLlmInside(() => stack);
  // Docker's networks have no IPv6 by default, and neither has their loopback interface.
  describeAppProxy(() => stack, ['0.0.0.0', '::']);
  describeConsoleCommand(() => stack);
  describeFeedback(() => stack);
  describeWebhooks(() => stack);
  describeWebhookQueue(() => stack);
  describeWebhookCallers(() => stack);
  describeHosts(() => stack);
  describeDeploys(
    () => stack,
    () => upstream,
  );
  describeOutages(() => stack);

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

    it('calls succeed within 30 s after docker compose restart of all services', async () => {
      const { id } = await api.runningAgent();
      await stack.compose('restart', ...PROCESSES);
      await works(id);
      await stack.healthy(30_000);
    });

    it('calls succeed within 30 s after docker compose kill of all services and docker compose up', async () => {
      const { id } = await api.runningAgent();
      await stack.compose('kill');
      await stack.compose('up', '--detach');
      await works(id);
      await stack.healthy(30_000);
    });
  });

  describeRecount(() => stack);
});
