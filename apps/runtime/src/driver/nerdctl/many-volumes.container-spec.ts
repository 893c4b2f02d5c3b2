import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentFolders } from '../../agent/agent-folders.js';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

const VOLUMES = 10_000;
const OPENED_WITHIN_MS = 5_000;

/** What each awake agent has more of. */
const heldByHost = (): Readonly<Record<string, number>> => ({
  mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length,
  'loop devices': execFileSync('losetup', ['--list', '--noheadings'], { encoding: 'utf8' }).split('\n')
    .length,
  processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
});

describe('10,000 volumes of agents that are cold asleep', () => {
  let host: DriverFixture;

  beforeAll(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
  });

  afterAll(() => host.destroy());

  it('cost no mount, no loop device and no process, and a host with them opens as soon as ever', async () => {
    const first = await host.start();
    const { agentId } = first.box;
    await first.sh('echo kept > $BERTH_VOLUME/kept; sync');
    await host.driver.stop(agentId, 0);
    await host.reopen();
    const before = heldByHost();
    const image = join(agentFolders(host.dataDir, agentId).root, 'disk.ext4');
    const asleep = Array.from({ length: VOLUMES }, () => newId('agt'));
    for (const id of asleep) {
      mkdirSync(agentFolders(host.dataDir, id).root);
      // One file system for all of them: only one is mounted.
      linkSync(image, join(agentFolders(host.dataDir, id).root, 'disk.ext4'));
    }
    const since = performance.now();
    await host.reopen();
    expect(performance.now() - since).toBeLessThan(OPENED_WITHIN_MS);
    const now = heldByHost();
    expect([now['mounts'], now['loop devices']]).toEqual([before['mounts'], before['loop devices']]);
    // Other tests start and end processes meanwhile.
    expect(now['processes']).toBeLessThan((before['processes'] ?? 0) + 100);
    const woken = await host.start({ agentId: asleep.at(-1) ?? '', epoch: 2 });
    expect(await woken.sh('cat $BERTH_VOLUME/kept')).toBe('kept');
    // Its file system is that of the others, too, which are removed now.
    await host.driver.stop(woken.box.agentId, 0);
  });
});
