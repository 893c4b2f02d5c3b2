import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOperatorFile, type OperatorFile } from '@berth/operator-file';
import { containerTestHost, loadTestImage } from '@berth/testing';
import { GUEST_MAIN, quietLog, TEST_TEMPLATES } from '../../../__fixtures__/host.fixture.js';
import type { DriverUnderTest } from '../../driver-contract/driver.fixture.js';
import type { Driver } from '../../driver.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import type { NerdctlDriverOptions } from '../nerdctl-host.js';
import { NerdctlDriver } from '../nerdctl.driver.js';

/** The operator's file with that `runtime.network`. */
export const operatorFileWith = (network: string): OperatorFile =>
  parseOperatorFile(`runtime: { image: 'berth.test/shell:1', network: ${network} }`);

/** A nerdctl driver that reaches containerd on that socket, with an image that is BusyBox alone; not open yet. */
export const nerdctlDriverOn = async (
  dataDir: string,
  address: string,
  changes: Partial<Pick<NerdctlDriverOptions, 'operator' | 'network' | 'nerdctl'>> = {},
): Promise<Driver> => {
  await loadTestImage(namespaceOf(await instanceOf(dataDir)), 'shell');
  return new NerdctlDriver({
    dataDir,
    guestMain: GUEST_MAIN,
    nerdctl: 'nerdctl',
    address,
    cniPath: containerTestHost().cniPath,
    kits: join(tmpdir(), 'kits'),
    operator: { current: operatorFileWith('{}') },
    subidUser: 'berth',
    path: process.env['PATH'] ?? '',
    log: quietLog,
    ...changes,
  });
};

/** The same as the contract needs it. */
export const nerdctlDriverUnderTest: DriverUnderTest = {
  create: (dataDir) => nerdctlDriverOn(dataDir, containerTestHost().address),
  source: { kind: 'template', version: 1, name: 'shell', folder: join(TEST_TEMPLATES, 'shell'), image: null },
  codeFile: 'template.json',
  offers: { isolation: 'container', tasks: true, limitsDisk: true },
  guestMemoryBytes: 0,
};
