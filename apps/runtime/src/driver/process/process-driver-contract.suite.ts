import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { GUEST_MAIN, quietLog, TEST_TEMPLATES } from '../../__fixtures__/host.fixture.js';
import {
  CONTRACT_PARTS,
  describeDriverContract,
  type ContractPart,
} from '../driver-contract/driver.contract.js';
import type { DriverUnderTest } from '../driver-contract/driver.fixture.js';
import { ProcessDriver, type ProcessDriverOptions } from './process.driver.js';

interface Variant {
  readonly name: string;
  readonly features: NonNullable<ProcessDriverOptions['features']>;
  /** What the features change. */
  readonly changes: readonly ContractPart[];
}

/**
 * The driver uses what the host offers, so each combination is tested as a separate driver. The first uses most of it; all but
 * the last need root.
 */
const VARIANTS: readonly Variant[] = [
  { name: 'with cgroups of version 2', features: { cgroups: 'v2' }, changes: CONTRACT_PARTS },
  { name: 'with cgroups of version 1', features: { cgroups: 'v1' }, changes: ['processes', 'limits'] },
  {
    name: 'as root without cgroups and namespaces',
    features: { cgroups: 'none', views: false },
    changes: ['boxes', 'processes'],
  },
  { name: 'without root', features: { cgroups: 'none', users: false }, changes: ['boxes'] },
];

const [FULLEST, ...OTHERS] = process.getuid?.() === 0 ? VARIANTS : VARIANTS.slice(-1);

/** The whole contract for the variant that uses most of this host, and for the others what their features change. */
export const describeProcessDriver = (): void => {
  if (FULLEST !== undefined) describeVariant(FULLEST, CONTRACT_PARTS);
  for (const variant of OTHERS) describeVariant(variant, variant.changes);
};

/** The rest of the contract for the other variants; the whole again where there are none, without root. */
export const describeOtherVariants = (): void => {
  if (OTHERS.length === 0) describeProcessDriver();
  for (const variant of OTHERS)
    describeVariant(
      variant,
      CONTRACT_PARTS.filter((part) => !variant.changes.includes(part)),
    );
};

const describeVariant = ({ name, features }: Variant, parts: readonly ContractPart[]): void => {
  const outsideDir = mkdtempSync(join(tmpdir(), 'berth-outside-'));
  chmodSync(outsideDir, 0o755);
  afterAll(() => rmSync(outsideDir, { recursive: true, force: true }));
  const underTest: DriverUnderTest = {
    create: (dataDir) =>
      new ProcessDriver({
        dataDir,
        guestMain: GUEST_MAIN,
        uidBase: undefined,
        outsideDir,
        features,
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
    offers: { isolation: features.users === false ? 'none' : 'users', tasks: true, limitsDisk: false },
    guestMemoryBytes: 10 * 1024 * 1024,
  };
  describeDriverContract(`process driver ${name}`, underTest, parts);
};
