import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOperatorFile } from '@berth/operator-file';
import { containerTestHost, loadTestImage } from '@berth/testing';
import { GUEST_MAIN, quietLog, TEST_TEMPLATES } from '../../../__fixtures__/host.fixture.js';
import type { DriverUnderTest } from '../../driver-contract/driver.fixture.js';
import type { Driver } from '../../driver.js';
import { instanceOf, namespaceOf } from '../nerdctl-host.js';
import { NerdctlDriver } from '../nerdctl.driver.js';

/** A nerdctl driver that reaches containerd on that socket, with an image that is BusyBox alone; not open yet. */
export const nerdctlDriverOn = async (dataDir: string, address: string): Promise<Driver> => {
  await loadTestImage(namespaceOf(await instanceOf(dataDir)), 'shell');
  return new NerdctlDriver({
    dataDir,
    guestMain: GUEST_MAIN,
    nerdctl: 'nerdctl',
    address,
    cniPath: containerTestHost().cniPath,
    kits: join(tmpdir(), 'kits'),
    operator: { current: parseOperatorFile('runtime: { image: berth.test/shell:1 }') },
    subidUser: 'berth',
    path: '',
    log: quietLog,
  });
};

/** The same as the contract needs it. */
export const nerdctlDriverUnderTest: DriverUnderTest = {
  create: (dataDir) => nerdctlDriverOn(dataDir, containerTestHost().address),
  source: { kind: 'template', version: 1, name: 'shell', folder: join(TEST_TEMPLATES, 'shell'), image: null },
  codeFile: 'template.json',
};
