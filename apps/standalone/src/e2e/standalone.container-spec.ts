import type { Env } from '@berth/config';
import { afterAll, beforeAll } from 'vitest';
import { describeAgentApi } from './agent-api.suite.js';
import { describeAgentsApi } from './agents-api.suite.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { describeConsoleCommand } from './console-command.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeDoctorCommand } from './doctor-command.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { describeIdleTime } from './idle-time.suite.js';
import { provideModels } from './llm.fixture.js';
import { describeShippedTemplates } from './shipped-templates.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
let env: Env;
let stack: StandaloneStack;
let models: Awaited<ReturnType<typeof provideModels>>;

beforeAll(async () => {
  models = await provideModels(folder.path);
  env = { ...(await prepareContainerStack(folder.path)), ...models.env };
  stack = await startStandaloneStack(folder.path, env);
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  await models.upstream.stop();
  folder.remove();
});

describeAgentsApi(() => stack);
describeAgentApi(() => stack);
describeEnvironmentApi(() => stack);
describeExecApi(() => stack);
describeExecAndAgents(() => stack);
describeFilesApi(() => stack);
describeFileTransfers(() => stack);
describeFileChanges(() => stack);
describeConsoleApi(() => stack);
describeIdleTime(
  () => stack,
  () => models.upstream,
);
describeShippedTemplates(() => stack);
describeConsoleCommand(() => stack);
describeDoctorCommand(
  () => stack,
  () => env,
);
