import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerTestHost, loadTestImage } from '@berth/testing';
import { GUEST_MAIN, quietLog, TEST_TEMPLATES } from '../../__fixtures__/host.fixture.js';
import { describeDriverContract } from '../driver-contract/driver.contract.js';
import { instanceOf, namespaceOf } from './nerdctl-host.js';
import { NerdctlDriver } from './nerdctl.driver.js';

describeDriverContract('nerdctl driver', {
  create: async (dataDir) => {
    await loadTestImage(namespaceOf(await instanceOf(dataDir)), 'shell');
    return new NerdctlDriver({
      dataDir,
      guestMain: GUEST_MAIN,
      nerdctl: 'nerdctl',
      address: containerTestHost().address,
      cniPath: containerTestHost().cniPath,
      kits: join(tmpdir(), 'kits'),
      image: 'berth.test/shell:1',
      subidUser: 'berth',
      log: quietLog,
    });
  },
  source: { kind: 'template', version: 1, name: 'shell', folder: join(TEST_TEMPLATES, 'shell') },
  codeFile: 'template.json',
});
