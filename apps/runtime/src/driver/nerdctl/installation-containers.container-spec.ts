import { execFileSync } from 'node:child_process';
import { containerTestHost, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';

const { address } = containerTestHost();
const SECRET = 'BERTH_TEST_DATABASE_PASSWORD';

describe('the containers of an installation in containerd', () => {
  let host: DriverFixture;
  let instance: string;
  let strangers: string[];

  const nerdctl = (...args: readonly string[]): string =>
    execFileSync('nerdctl', [`--address=${address}`, `--namespace=${namespaceOf(instance)}`, ...args], {
      encoding: 'utf8',
    }).trim();

  /** Starts a container past Berth. */
  const runStranger = (name: string, ...labels: readonly string[]): string => {
    const options = [
      '--detach',
      '--net=none',
      `--name=${name}`,
      ...labels.map((label) => `--label=${label}`),
    ];
    const id = nerdctl('run', ...options, 'berth.test/shell:1', 'sleep', '3600');
    strangers.push(id);
    return id;
  };

  const containers = (): readonly string[] =>
    nerdctl('ps', '--all', '--no-trunc', '--quiet').split('\n').filter(Boolean);

  beforeEach(async () => {
    process.env[SECRET] = 'hunter2';
    strangers = [];
    host = await DriverFixture.open(nerdctlDriverUnderTest);
    instance = await instanceOf(host.dataDir);
  });

  afterEach(async () => {
    Reflect.deleteProperty(process.env, SECRET);
    // Before the driver closes: nerdctl makes their control groups among the installation's.
    const others = containers().filter((id) => strangers.includes(id));
    if (others.length > 0) nerdctl('rm', '--force', ...others);
    await host.destroy();
  });

  it('that bear its label and that it does not know are removed at its start, however they are named, and no others', async () => {
    const { box } = await host.start();
    const label = `berth.instance=${instance}`;
    const unknown = [
      runStranger('stray', label, 'berth.agent=agt_01', 'berth.epoch=1'),
      runStranger('agt_01', label),
    ];
    const others = [runStranger('other'), runStranger('another', 'berth.instance=000000000000')];
    const { container } = box.record as { container: string };
    await host.reopen();
    // The start does not wait for removals that take long.
    await eventually(() => expect(containers().filter((id) => unknown.includes(id))).toEqual([]));
    expect(containers().toSorted()).toEqual([container, ...others].toSorted());
  });

  it('are stored without the variables of the runtime, which may be passwords and keys', async () => {
    const { box } = await host.start();
    const { container } = box.record as { container: string };
    const stored = nerdctl('container', 'inspect', '--mode=native', container);
    expect(stored).toContain('oci-hook');
    expect(stored).not.toContain(SECRET);
  });
});
