import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOperatorFile } from '@berth/operator-file';
import { containerTestHost, eventually, ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoxSource } from '../box-spec.js';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverOn, nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

describe('an image that a stranger has made', () => {
  let folder: string;
  let registry: ImageRegistry;
  let host: DriverFixture;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-strange-'));
    registry = await ImageRegistry.start();
    const current = parseOperatorFile(
      `{ runtime: { image: 'berth.test/shell:1' }, deploy: { registries: ['${registry.host}'] } }`,
    );
    host = await DriverFixture.open({
      ...nerdctlDriverUnderTest,
      create: (dataDir) => nerdctlDriverOn(dataDir, containerTestHost().address, { operator: { current } }),
    });
  });

  afterAll(async () => {
    await host.destroy();
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An image with a shell and these symbolic links. */
  const imageWith = async (name: string, links: Readonly<Record<string, string>>): Promise<BoxSource> => {
    const root = join(folder, name);
    mkdirSync(join(root, 'bin'), { recursive: true });
    copyFileSync('/usr/bin/busybox', join(root, 'bin', 'busybox'));
    symlinkSync('busybox', join(root, 'bin', 'sh'));
    for (const [link, target] of Object.entries(links)) {
      mkdirSync(join(root, link, '..'), { recursive: true });
      symlinkSync(target, join(root, link));
    }
    const digest = await registry.push(name, '1', root, {
      Cmd: ['/bin/sh', '-c', 'exec /bin/busybox httpd -f -p $PORT -h /'],
    });
    const reference = `${registry.host}/${name}@${digest}`;
    return { kind: 'image', version: 1, deploymentId: 'dep_1', reference };
  };

  const PREPARE =
    'cd $BERTH_VOLUME; chmod 777 .; mkdir -p -m 777 run logs journal disk kit code gate groups bin lib; ' +
    'touch groups/memory groups/pids memory pids; ' +
    'printf "#!/bin/sh\\nwhile :; do :; done\\n" > bin/node; chmod 777 bin/node memory pids groups/*';
  const WRITABLE = { user: 'root', rootFileSystem: 'writable' } as const;

  it.each([
    ['volume-to-berth', { workspace: '/.berth' }, null],
    ['volume-to-groups', { workspace: '/.berth/groups' }, null],
    ['berth-to-volume', { '.berth': '/workspace' }, null],
    ['deep-volume-to-kit', { 'srv/data': '/.berth/kit' }, '/srv/data'],
  ] as const)(
    'cannot lead the mounts of Berth elsewhere, or others over them: it is not started (%s)',
    async (name, links, volumePath) => {
      // The agent prepares its volume for that, so that nothing else prevents it.
      const before = await host.start({ user: 'root' });
      await before.sh(PREPARE);
      const { agentId } = before.box;
      const spec = { agentId, epoch: 2, source: await imageWith(name, links), volumePath, ...WRITABLE };
      await expect(host.start(spec)).rejects.toMatchObject({ code: 'spec_unsupported' });
      await host.driver.stop(agentId, 0);
      await eventually(async () => expect(await host.listed()).not.toContain(agentId));
    },
  );

  it('may have other links in place of the folders of a container', async () => {
    const links = { workspace: '/data', tmp: '/scratch', 'var/tmp': '/tmp', 'var/run': '/run' };
    const started = await host.start({ source: await imageWith('harmless', links), ...WRITABLE });
    expect(await started.sh('echo x > /workspace/x && read line < /data/x && echo $line')).toBe('x');
    expect(await started.sh('for f in /tmp /var/tmp; do echo y > $f/y && echo $f; done')).toBe(
      '/tmp\n/var/tmp',
    );
  });

  it('has its volume where the spec says', async () => {
    const started = await host.start({
      source: await imageWith('plain', {}),
      volumePath: '/srv/data',
      ...WRITABLE,
    });
    expect(await started.sh('pwd; echo $BERTH_VOLUME $HOME; echo kept > /srv/data/kept')).toBe(
      '/srv/data\n/srv/data /srv/data',
    );
    const { agentId } = started.box;
    const again = await host.start({ agentId, epoch: 2 });
    expect(await again.sh('cat /workspace/kept')).toBe('kept');
  });
});
