import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { instanceOf, namespaceOf } from '@berth/runtime';
import { containerTestHost, loadTestImage } from '@berth/testing';
import { afterAll, beforeAll } from 'vitest';
import { describeAgentsApi } from './agents-api.suite.js';
import { describeConsoleApi } from './console.suite.js';
import { describeEnvironmentApi } from './environment.suite.js';
import { describeExecAndAgents } from './exec-agents.suite.js';
import { describeExecApi } from './exec-api.suite.js';
import { describeFileChanges } from './file-changes.suite.js';
import { describeFileTransfers } from './file-transfers.suite.js';
import { describeFilesApi } from './files-api.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
let env: Env;
let stack: StandaloneStack;

beforeAll(async () => {
  const runtimeData = join(folder.path, 'runtime');
  mkdirSync(runtimeData, { mode: 0o700 });
  await loadTestImage(namespaceOf(await instanceOf(runtimeData)), 'debian');
  const { address, cniPath } = containerTestHost();
  env = {
    BERTH_RUNTIME: 'nerdctl',
    // Not all addresses, which is the default with containers.
    BERTH_HOST: '127.0.0.1',
    CONTAINERD_ADDRESS: address,
    CNI_PATH: cniPath,
  };
  stack = await startStandaloneStack(folder.path, env);
});

afterAll(async () => {
  await stack.stop();
  // A host that ends dozens of agents may not have removed all containers in time. Its next start does.
  await (await startStandaloneStack(folder.path, env)).stop();
  folder.remove();
});

describeAgentsApi(() => stack);
describeEnvironmentApi(() => stack);
describeExecApi(() => stack);
describeExecAndAgents(() => stack);
describeFilesApi(() => stack);
describeFileTransfers(() => stack, 'absent');
describeFileChanges(() => stack);
describeConsoleApi(() => stack);
