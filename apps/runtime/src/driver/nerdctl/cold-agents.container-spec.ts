import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerTestHost } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentFolders } from '../../agent/agent-folders.js';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { holdFileSystem } from './__fixtures__/held-file-system.fixture.js';
import { nerdctlDriverOn, nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { listShims } from './shims.js';

/** More than are removed at a time. */
const AGENTS = 6;
/** So that those whose turn comes last wait for longer than a single removal may take. */
const REMOVAL_SECONDS = 1.5;

describe('agents that go cold', () => {
  let folder: string;
  let host: DriverFixture;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-cold-'));
    const nerdctl = join(folder, 'nerdctl');
    writeFileSync(
      nerdctl,
      `#!/bin/sh
for word; do case $word in --*) ;; *) command=$word; break;; esac; done
[ "$command" = rm ] && sleep ${String(REMOVAL_SECONDS)}
exec nerdctl "$@"
`,
      { mode: 0o755 },
    );
    host = await DriverFixture.open({
      ...nerdctlDriverUnderTest,
      create: (dataDir) => nerdctlDriverOn(dataDir, containerTestHost().address, { nerdctl }),
    });
  });

  afterAll(async () => {
    await host.destroy();
    rmSync(folder, { recursive: true });
  });

  it('cost the host nothing but their disks as soon as all have stopped at once, however slowly containers are removed', async () => {
    const started = await Promise.all(Array.from({ length: AGENTS }, () => host.start()));
    await Promise.all(started.map(({ box }) => host.driver.stop(box.agentId, 0)));
    const backing = execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], {
      encoding: 'utf8',
    });
    expect({
      shims: await listShims(namespaceOf(await instanceOf(host.dataDir))),
      loopDevices: backing.split('\n').filter((file) => file.startsWith(host.dataDir)),
      containers: await host.listed(),
    }).toEqual({ shims: [], loopDevices: [], containers: [] });
  });

  it('have stopped although something still holds their disks, and start again once that is gone', async () => {
    const { agentId } = (await host.start()).box;
    const release = holdFileSystem(join(agentFolders(host.dataDir, agentId).root, 'disk'));
    try {
      await host.driver.stop(agentId, 0);
      await expect(host.start({ agentId, epoch: 2 })).rejects.toMatchObject({ code: 'box_stuck' });
    } finally {
      release();
    }
    await host.start({ agentId, epoch: 3 });
    await host.driver.stop(agentId, 0);
  });
});
