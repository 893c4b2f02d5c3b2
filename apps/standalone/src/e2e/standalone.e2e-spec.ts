import { afterAll, beforeAll } from 'vitest';
import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { describeAppProxy } from './app.suite.js';
import { describeCaps } from './caps.suite.js';
import { describeConsoleCommand } from './console-command.suite.js';
import { describeAuditOfEndUsers } from './audit-api.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeDoctorCommand } from './doctor-command.suite.js';
import { describeEndUserPage } from './end-user-page.suite.js';
import { environmentOfPage } from './end-user-page.fixture.js';
import { describeEndUserSuspension } from './end-user-suspension.suite.js';
import { describeEndUsersApi } from './end-users-api.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { describeIdleTime } from './idle-time.suite.js';
import { describeLargestAgents } from './largest-agents.suite.js';
import { describeIsolation } from './isolation.suite.js';
import { describePoliciesApi } from './policies-api.suite.js';
import { describeTokensApi } from './tokens-api.suite.js';
import { describeOpenStreams } from './open-streams.suite.js';
import { describeWebhookCallers } from './webhook-callers.suite.js';
import { describeWebhooks } from './webhooks.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
let stack: StandaloneStack;

beforeAll(async () => {
  stack = await startStandaloneStack(folder.path, environmentOfPage());
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

describeAgentsApi(() => stack);
describeAccountApi(() => stack);
describeAccountsApi(() => stack);
describeIsolation(() => stack);
describeEndUsersApi(() => stack);
describePoliciesApi(() => stack);
describeCaps(() => stack);
describeTokensApi(() => stack);
describeEndUserSuspension(() => stack);
describeOpenStreams(() => stack);
describeAuditOfEndUsers(() => stack);
describeEnvironmentApi(() => stack);
describeExecApi(() => stack);
describeExecAndAgents(() => stack);
describeFilesApi(() => stack);
describeFileTransfers(() => stack);
describeFileChanges(() => stack);
describeConsoleApi(() => stack);
describeIdleTime(() => stack);
describeAppProxy(() => stack);
describeConsoleCommand(() => stack);
describeDoctorCommand(() => stack);
describeEndUserPage(() => stack);
describeWebhooks(() => stack);
describeWebhookCallers(() => stack);
describeLargestAgents(() => stack);
