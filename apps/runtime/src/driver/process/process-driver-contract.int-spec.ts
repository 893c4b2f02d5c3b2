import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { GUEST_MAIN, quietLog, TEST_TEMPLATES } from '../../__fixtures__/host.fixture.js';
import { describeDriverContract } from '../driver-contract/driver.contract.js';
import { ProcessDriver, type ProcessDriverOptions } from './process.driver.js';

/** The driver uses what the host offers, so each combination is tested as a separate driver. Most need root. */
const VARIANTS: readonly (readonly [string, ProcessDriverOptions['features']])[] = [
  ...(process.getuid?.() === 0
    ? ([
        ['process driver with cgroups of version 2', { cgroups: 'v2' }],
        ['process driver with cgroups of version 1', { cgroups: 'v1' }],
        ['process driver as root without cgroups and namespaces', { cgroups: 'none', views: false }],
      ] as const)
    : []),
  ['process driver without root', { cgroups: 'none', users: false }],
];

const outsideDir = mkdtempSync(join(tmpdir(), 'berth-outside-'));
chmodSync(outsideDir, 0o755);
afterAll(() => rmSync(outsideDir, { recursive: true, force: true }));

for (const [name, features] of VARIANTS) {
  describeDriverContract(name, {
    create: (dataDir) =>
      new ProcessDriver({
        dataDir,
        guestMain: GUEST_MAIN,
        uidBase: undefined,
        outsideDir,
        ...(features === undefined ? {} : { features }),
        log: quietLog,
      }),
    source: {
      kind: 'template',
      version: 1,
      name: 'shell',
      folder: join(TEST_TEMPLATES, 'shell'),
      image: null,
    },
    codeFile: 'template.json',
    offers: { isolation: features?.users === false ? 'none' : 'users', tasks: true, limitsDisk: false },
    guestMemoryBytes: 10 * 1024 * 1024,
  });
}
