import { execFileSync } from 'node:child_process';
import { newId } from '@berth/kernel';
import { containerTestHost } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';
import { DESKTOP_IMAGE } from './images/desktop-image.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';

describe('computers in containers', () => {
  let host: DriverFixture;
  beforeEach(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
  });
  afterEach(() => host.destroy());

  const source = { kind: 'desktop', version: 1 } as const;

  /** Gives the small image of the tests the name of the image of desktops. */
  const addImage = async (): Promise<void> => {
    const namespace = namespaceOf(await instanceOf(host.dataDir));
    const scope = [`--address=${containerTestHost().address}`, `--namespace=${namespace}`];
    execFileSync('nerdctl', [...scope, 'tag', 'berth.test/shell:1', DESKTOP_IMAGE]);
  };

  it('are offered as soon as the image of desktops is there, which is never pulled', async () => {
    expect(await host.driver.hasDesktops()).toBe(false);
    await expect(host.driver.prepare(source)).rejects.toMatchObject({ code: 'image_unavailable' });
    await addImage();
    expect(await host.driver.hasDesktops()).toBe(true);
    await host.driver.prepare(source);
  });

  it('have boxes of their own, in whose home folder they work', async () => {
    await addImage();
    const agentId = newId('cmp');
    const started = await host.start({ agentId, source });
    expect(await started.sh('pwd; id -u; echo $PATH')).toMatch(/^\/workspace\n1000\n\/usr\/local\/sbin:/);
    expect(await host.driver.list()).toEqual([{ agentId, epoch: 1 }]);
    await host.reopen();
    expect(await host.driver.list()).toEqual([{ agentId, epoch: 1 }]);
    await host.driver.remove(agentId);
    expect(await host.driver.list()).toEqual([]);
  });
});
