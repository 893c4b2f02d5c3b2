import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { containerTestHost, loadTestImage } from '@berth/testing';
import { startStandaloneStack, type StandaloneStack } from './stack.fixture.js';

/** Prepares a data folder for a standalone installation with containers, and returns its settings. */
export const prepareContainerStack = async (dataDir: string): Promise<Env> => {
  const runtimeData = join(dataDir, 'runtime');
  // A test may have mounted a file system there.
  mkdirSync(runtimeData, { mode: 0o700, recursive: true });
  await loadTestImage(namespaceOf(await instanceOf(runtimeData)), 'debian');
  const { address, cniPath } = containerTestHost();
  return {
    BERTH_RUNTIME: 'nerdctl',
    // Not all addresses, which is the default with containers.
    BERTH_HOST: '127.0.0.1',
    CONTAINERD_ADDRESS: address,
    CNI_PATH: cniPath,
  };
};

/** Stops an installation with containers, and removes what is left of them. */
export const stopContainerStack = async (stack: StandaloneStack, env: Env): Promise<void> => {
  await stack.stop();
  // A host that ends dozens of agents may not have removed all containers in time. Its next start does.
  await (await startStandaloneStack(stack.dataDir, env)).stop();
};
