import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { parseOperatorFile } from '@berth/operator-file';
import { containerTestHost, eventually, ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoxSource } from '../box-spec.js';
import { DriverFixture, type StartedBox } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverOn, nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

/** What C libraries and OpenSSL read, also of what to load, when a program starts or asks for a user. */
const OPENED_BY_C_LIBRARIES = [
  'etc/ld.so.cache',
  'etc/ld.so.preload',
  'etc/ssl/openssl.cnf',
  'lib/libnss_stranger.so.2',
  'usr/lib/locale/C.utf8/LC_CTYPE',
  'usr/lib/locale/locale-archive',
  'usr/lib/ssl/openssl.cnf',
  'usr/local/ssl/openssl.cnf',
  'usr/share/locale/locale.alias',
];

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

  /** The root of an image with a shell. */
  const rootOf = (name: string): string => {
    const root = join(folder, name);
    mkdirSync(join(root, 'bin'), { recursive: true });
    copyFileSync('/usr/bin/busybox', join(root, 'bin', 'busybox'));
    for (const tool of ['sh', 'cat', 'grep', 'id', 'kill', 'ls'])
      symlinkSync('busybox', join(root, 'bin', tool));
    return root;
  };

  /** An image with a shell and these symbolic links. */
  const imageWith = async (name: string, links: Readonly<Record<string, string>>): Promise<BoxSource> => {
    const root = rootOf(name);
    for (const [link, target] of Object.entries(links)) {
      mkdirSync(join(root, link, '..'), { recursive: true });
      symlinkSync(target, join(root, link));
    }
    return pushed(name, root);
  };

  const pushed = async (name: string, root: string, user?: string) => {
    const digest = await registry.push(name, '1', root, {
      Cmd: ['/bin/sh', '-c', 'exec /bin/busybox httpd -f -p $PORT -h /'],
      ...(user === undefined ? {} : { User: user }),
    });
    const reference = `${registry.host}/${name}@${digest}`;
    return { kind: 'image', version: 1, deploymentId: 'dep_1', reference } as const satisfies BoxSource;
  };

  const PREPARE =
    'cd $BERTH_VOLUME; chmod 777 .; mkdir -p -m 777 run logs journal disk kit code gate groups groups/processes processes bin lib; ' +
    'touch groups/memory memory; ' +
    'printf "#!/bin/sh\\nwhile :; do :; done\\n" > lib/init; chmod 777 lib/init memory groups/*';
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

  it('cannot make another user of the number of its user, by a name in its /etc/passwd', async () => {
    const root = rootOf('renamed');
    mkdirSync(join(root, 'etc'));
    writeFileSync(join(root, 'etc', 'passwd'), '1234:x:0:0::/:/bin/sh\n');
    writeFileSync(join(root, 'etc', 'group'), '1234:x:0:\n5:x:0:\n');
    const started = await host.start({ source: await pushed('renamed', root, '1234:1234') });
    const status = await started.sh('cat /proc/self/status');
    expect(status).toMatch(/^Uid:\t1234\t1234\t1234\t1234$/m);
    expect(status).toMatch(/^Gid:\t1234\t1234\t1234\t1234$/m);
    for (const attempt of ['kill -0 1', 'ls /.berth/journal', 'ls /.berth/run'])
      expect([attempt, (await started.run(attempt)).exitCode]).toEqual([attempt, 1]);
  });

  it.each([
    ['an unprivileged user', { user: 'unprivileged' }],
    ['root inside', WRITABLE],
  ] as const)(
    'cannot have a library or a setting of its own used with the rights of the guest, as %s',
    async (_, spec) => {
      const name = `blocking-${spec.user}`;
      const root = rootOf(name);
      // Whatever opens a pipe that nothing writes to waits for ever.
      for (const path of OPENED_BY_C_LIBRARIES) {
        mkdirSync(join(root, path, '..'), { recursive: true });
        execFileSync('mkfifo', [join(root, path)]);
      }
      writeFileSync(join(root, 'etc', 'nsswitch.conf'), 'passwd: stranger files\ngroup: stranger files\n');
      const started = await host.start({ source: await pushed(name, root), ...spec });
      expect(await started.sh('echo "responds in $LANG"')).toMatch(/^responds in/);
      const env = {
        LANG: 'C.UTF-8',
        LANGUAGE: 'xx',
        LOCPATH: '/usr/lib/locale',
        LD_PRELOAD: '/lib/stranger.so',
      };
      const request = { executionId: newId('exe'), command: 'echo "preloads $LD_PRELOAD"', cwd: '/bin' };
      const report = await started.client.execute(
        { ...request, env, timeoutMs: 30_000, waitMs: 30_000 },
        AbortSignal.timeout(30_000),
      );
      expect(report.stdout).toBe('preloads /lib/stranger.so\n');
    },
  );

  it('has its own programs rather than those of the same name in the kit, but for Node in front of code that Berth brings', async () => {
    const plain = await host.start({ source: await imageWith('few-programs', {}) });
    const listed = await plain.sh('for d in /.berth/kit/*/; do ls $d; done');
    const names = [...new Set(listed.split('\n'))];
    expect(names).toEqual(expect.arrayContaining(['node', 'bash', 'sh', 'mkfifo', 'become', 'seal']));
    // Without such programs it has a shell and Node, and none of what the guest alone calls.
    const fromKit = async (box: StartedBox): Promise<readonly string[]> => {
      // Not by `command -v`: the shell finds BusyBox's own programs without looking for them.
      const found = await box.sh(
        `IFS=:; for name in ${names.join(' ')}; do for folder in $PATH; do ` +
          '[ -x "$folder/$name" ] && echo "$folder/$name" && break; done; done',
      );
      return found.split('\n').filter((path) => path.startsWith('/.berth/'));
    };
    const offered = ['node', 'npm', 'npx'].filter((name) => names.includes(name));
    expect((await fromKit(plain)).toSorted()).toEqual(
      [...offered.map((name) => `/.berth/kit/bin/${name}`), '/.berth/kit/shell/bash'].toSorted(),
    );

    const root = rootOf('many-programs');
    for (const name of names.filter((one) => !existsSync(join(root, 'bin', one))))
      symlinkSync('busybox', join(root, 'bin', name));
    const source = await pushed('many-programs', root);
    expect(await fromKit(await host.start({ source }))).toEqual([]);
    const template = { ...nerdctlDriverUnderTest.source, image: source.reference } as const;
    const brought = await fromKit(await host.start({ source: template }));
    expect(brought.toSorted()).toEqual(offered.map((name) => `/.berth/kit/bin/${name}`));
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
