import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerTestHost, ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DriverFixture } from '../../driver-contract/driver.fixture.js';
import { nerdctlDriverUnderTest } from '../__fixtures__/nerdctl-driver.fixture.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';

describe('an image', () => {
  let folder: string;
  let host: DriverFixture;
  let registry: ImageRegistry;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-downloads-'));
    host = await DriverFixture.open(nerdctlDriverUnderTest);
    registry = await ImageRegistry.start();
  });

  afterAll(async () => {
    await host.destroy();
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ctr = async (args: readonly string[], input = '') => {
    const namespace = namespaceOf(await instanceOf(host.dataDir));
    const scope = [`--address=${containerTestHost().address}`, `--namespace=${namespace}`];
    return spawnSync('ctr', [...scope, ...args], { encoding: 'utf8', input });
  };

  const pulled = (name: string): Promise<string> =>
    host.driver.pinImage(`${registry.host}/${name}:1`, true, AbortSignal.timeout(30_000));

  it('whose layer is damaged in containerd, half downloaded, is pulled at once', async () => {
    writeFileSync(join(folder, 'file'), 'what the image contains');
    await registry.push('image', '1', folder, { Cmd: ['/file'] });
    const { layer, size } = registry.layerOf('image', '1');
    // Without a lease, containerd keeps it for a day.
    const ingest = ['content', 'ingest', `--expected-size=${size}`, `--expected-digest=${layer}`];
    const { status, stderr } = await ctr([...ingest, `layer-${layer}`], 'x'.repeat(size));
    expect([status, stderr]).toEqual([1, expect.stringContaining('unexpected commit digest') as string]);
    expect((await ctr(['content', 'active'])).stdout).toContain(layer);
    expect(await pulled('image')).toContain('/image@sha256:');
  });

  it('of a registry that lied is pulled as soon as the registry tells the truth', async () => {
    writeFileSync(join(folder, 'file'), 'what another image contains');
    await registry.push('other', '1', folder, { Cmd: ['/file'] });
    registry.fail('other', 'lies');
    await expect(pulled('other')).rejects.toMatchObject({ code: 'image_unavailable' });
    registry.fail('other', null);
    expect(await pulled('other')).toContain('/other@sha256:');
  });
});
