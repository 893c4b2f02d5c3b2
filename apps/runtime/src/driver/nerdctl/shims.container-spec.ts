import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerTestHost, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverOn, nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { listShims } from './shims.js';

const { address } = containerTestHost();

describe('the shim of a container', () => {
  let folder: string;
  let host: DriverFixture;
  let namespace: string;

  /** nerdctl, whose removals wait as long as the file `held` exists. */
  const nerdctl = (): string => {
    const program = join(folder, 'nerdctl');
    const script = `#!/bin/sh
for word; do case $word in --*) ;; *) command=$word; break;; esac; done
[ "$command" = rm ] && while [ -e '${join(folder, 'held')}' ]; do sleep 0.05; done
exec nerdctl "$@"
`;
    writeFileSync(program, script, { mode: 0o755 });
    return program;
  };

  /** Containers of shims. */
  const held = async (): Promise<readonly string[]> =>
    (await listShims(namespace)).map(({ container }) => container);

  /** Control groups of the installation. */
  const groups = (): readonly string[] => {
    const find = ['/sys/fs/cgroup', '-type', 'd', '-name', namespace];
    return execFileSync('find', find, { encoding: 'utf8' }).split('\n').filter(Boolean);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-shims-'));
    host = await DriverFixture.open({
      ...nerdctlDriverUnderTest,
      create: (dataDir) => nerdctlDriverOn(dataDir, address, { nerdctl: nerdctl() }),
    });
    namespace = namespaceOf(await instanceOf(host.dataDir));
  });

  afterEach(async () => {
    rmSync(join(folder, 'held'), { force: true });
    await host.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it('that containerd has forgotten ends with the next start of the driver, that of a running agent does not', async () => {
    const started = await host.start();
    const forgotten = randomBytes(32).toString('hex');
    writeFileSync(join(folder, 'config.json'), '{}');
    // A shim begins when its log is read.
    const log = join(folder, 'log');
    execFileSync('mkfifo', [log]);
    const reader = openSync(log, 'r+');
    const options = ['-namespace', namespace, '-id', forgotten, '-address', address];
    execFileSync('containerd-shim-runc-v2', [...options, 'start'], {
      cwd: folder,
      env: { ...process.env, TTRPC_ADDRESS: `${address}.ttrpc`, MAX_SHIM_VERSION: '3' },
    });
    await eventually(async () => expect(await held()).toContain(forgotten));
    await host.reopen();
    await eventually(async () => expect(await held()).not.toContain(forgotten));
    expect(await held()).toHaveLength(1);
    expect(await started.sh('echo runs on')).toBe('runs on');
    closeSync(reader);
  });

  it('ends with the driver, and its control groups, even if its container is not removed in time; the next start does that', async () => {
    const { box } = await host.start();
    expect(await held()).toHaveLength(1);
    writeFileSync(join(folder, 'held'), '');
    await host.driver.stop(box.agentId, 0);
    expect(await held()).toHaveLength(1);
    await host.driver.close();
    expect(groups()).toEqual([]);
    await eventually(async () => expect(await held()).toEqual([]));
    rmSync(join(folder, 'held'));
    await host.reopen();
    await eventually(async () => expect(await host.listed()).toEqual([]));
  });
});
