import type { FakeUpstream } from '@berth/testing/upstream';
import { afterAll, beforeAll } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAgentApi } from './agent-api.suite.js';
import { describeAgentTokens } from './agent-tokens.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { describeAnalytics } from './analytics.suite.js';
import { describeAppProxy } from './app.suite.js';
import { describeCaps } from './caps.suite.js';
import { describeConsoleCommand } from './console-command.suite.js';
import { describeAuditApi } from './audit-api.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeDoctorCommand } from './doctor-command.suite.js';
import { describeEndUserPage } from './end-user-page.suite.js';
import { environmentOfPage } from './end-user-page.fixture.js';
import { describeEndUserSuspension } from './end-user-suspension.suite.js';
import { describeEndUserActivity } from './end-user-activity.suite.js';
import { describeEndUserAgents } from './end-user-agents.suite.js';
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
import { describeLargestAgents } from './largest-agents.suite.js';
import { describeIsolation } from './isolation.suite.js';
import { describePlans } from './plans.suite.js';
import { describePoliciesApi } from './policies-api.suite.js';
import { describeSchedules } from './schedules.suite.js';
import { describeShownSecrets } from './shown-secrets.suite.js';
import { describeTokensApi } from './tokens-api.suite.js';
import { describeLlm } from './llm-calls.suite.js';
import { describeLlmInside } from './llm-inside.suite.js';
import { describeLlmRefusals } from './llm-refusals.suite.js';
import { describeLlmRules } from './llm-rules.suite.js';
import { provideModels } from './llm.fixture.js';
import { describeOpenStreams } from './open-streams.suite.js';
import { describeWebhookCallers } from './webhook-callers.suite.js';
import { describeWebhookQueue } from './webhook-queue.suite.js';
import { describeWebhooks } from './webhooks.suite.js';
import { describeRecount } from './recount.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';
import { describeUsage } from './usage-api.suite.js';

const folder = temporaryFolder();
let stack: StandaloneStack;
let upstream: FakeUpstream;

beforeAll(async () => {
  const models = await provideModels(folder.path);
  upstream = models.upstream;
  stack = await startStandaloneStack(folder.path, { ...environmentOfPage(), ...models.env });
});

afterAll(async () => {
  await stack.stop();
  await upstream.stop();
  folder.remove();
});

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
describeCaps(() => stack);
describePlans(() => stack, {
  hangUp: () => void stack.program.child.kill('SIGHUP'),
  printed: () => stack.program.printed,
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
describeAgentTokens(() => stack);
describeLlm(
  () => stack,
  () => upstream,
);
describeLlmInside(() => stack);
describeLlmRefusals(
  () => stack,
  () => upstream,
);
describeLlmRules(
  () => stack,
  () => upstream,
);
describeAppProxy(() => stack);
describeConsoleCommand(() => stack);
describeDoctorCommand(() => stack);
describeEndUserPage(() => stack);
describeFeedback(() => stack);
describeWebhooks(() => stack);
describeWebhookQueue(() => stack);
describeWebhookCallers(() => stack);
describeLargestAgents(() => stack);
describeRecount(() => stack);
