import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '@berth/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { GUEST_MAIN, HostFixture } from '../../__fixtures__/host.fixture.js';
import { agentFolders } from '../../agent/agent-folders.js';
import type { ProcessDriverOptions } from './process.driver.js';
import { listPids, readStartVariable } from '../process-table.js';

type HostFeatures = ProcessDriverOptions['features'];

/** Variants that need root. Which features are available depends on who runs the tests; the driver uses those that it finds. */
const AS_ROOT: readonly (readonly [string, HostFeatures])[] =
  process.getuid?.() === 0
    ? [
        ['with cgroups of version 2', { cgroups: 'v2' }],
        ['with cgroups of version 1', { cgroups: 'v1' }],
        ['as root without cgroups and namespaces', { cgroups: 'none', views: false }],
      ]
    : [];
const ALL_VARIANTS: readonly (readonly [string, HostFeatures])[] = [
  ...AS_ROOT,
  ['without root', { cgroups: 'none', users: false }],
];

/** Makes paths that are longer than a system call takes. */
const NEST =
  'for (let i = 0; i < 30; i++) { fs.mkdirSync("n".repeat(200)); process.chdir("n".repeat(200)); }';

const SHARED = ['/tmp', '/var/tmp', '/dev/shm', '/run/lock'].filter((folder) => existsSync(folder));

/** What a user owns in the folders that all users share, and its System V IPC. */
const leftBy = (uid: string): readonly string[] => {
  const files = spawnSync('find', [...SHARED, '-maxdepth', '1', '-uid', uid], { encoding: 'utf8' }).stdout;
  const ipc = ['shm', 'msg', 'sem'].flatMap((kind) =>
    readFileSync(`/proc/sysvipc/${kind}`, 'utf8')
      .split('\n')
      .filter((line) => line.trim().split(/\s+/).includes(uid)),
  );
  return [...files.split('\n').filter((line) => line !== ''), ...ipc];
};

describe('the process driver', () => {
  let host: HostFixture;

  afterEach(() => host.destroy());

  const start = async (templateId = 'shell'): Promise<string> => {
    const recipe = HostFixture.recipe({ templateId });
    await host.agents.start(recipe);
    return recipe.agentId;
  };

  const sh = (agentId: string, command: string): Promise<string> => host.deliver(agentId, 1, command);

  const volume = async (agentId: string): Promise<string> => {
    const inside = await sh(agentId, 'echo $BERTH_VOLUME');
    const outside = agentFolders(host.dataDir, agentId).volume;
    return existsSync(outside) ? outside : inside;
  };

  const processesOf = async (agentId: string): Promise<number> => {
    const marks = await Promise.all(
      (await listPids()).map((pid) => readStartVariable(pid, 'BERTH_AGENT_MARK')),
    );
    return marks.filter((mark) => mark?.endsWith(agentId)).length;
  };

  it.each(ALL_VARIANTS)(
    '%s keeps the volume on stop and deletes everything on removal, however deep it is',
    async (_, features) => {
      host = await HostFixture.open({ features });
      const agentId = await start();
      for (const folder of ['$BERTH_VOLUME', '$TMPDIR'])
        expect(await sh(agentId, `cd ${folder} && node -e '${NEST}' && echo nested`)).toBe('nested');
      await sh(
        agentId,
        'mkdir -p $BERTH_VOLUME/d && echo kept > $BERTH_VOLUME/d/f && chmod 0 $BERTH_VOLUME/d',
      );
      const path = await volume(agentId);
      await host.agents.of(agentId).stop({ agentId, epoch: 1 });
      await host.agents.start(HostFixture.recipe({ agentId, templateId: 'shell', epoch: 2 }));
      expect(
        await host.deliver(
          agentId,
          2,
          'chmod 700 $BERTH_VOLUME/d; cat $BERTH_VOLUME/d/f; chmod 0 $BERTH_VOLUME/d',
        ),
      ).toBe('kept');
      await host.agents.remove(agentId);
      await host.agents.remove(agentId);
      expect(existsSync(path)).toBe(false);
      expect(existsSync(agentFolders(host.dataDir, agentId).root)).toBe(false);
      expect(await processesOf(agentId)).toBe(0);
    },
  );

  it.each(ALL_VARIANTS)(
    '%s empties the staging folder at every start, and the agent itself cannot access it',
    async (_, features) => {
      host = await HostFixture.open({ features });
      const agentId = await start();
      const staging = join(dirname(await volume(agentId)), 'staging');
      const asRoot = process.getuid?.() === 0 && features?.users !== false;
      expect(statSync(staging).mode & 0o777).toBe(0o700);
      mkdirSync(join(staging, 'folder'));
      writeFileSync(join(staging, 'half'), '');
      if (asRoot) expect(await sh(agentId, `ls ${staging} 2>&1`)).toMatch(/denied|No such file/);
      await host.agents.of(agentId).stop({ agentId, epoch: 1 });
      await host.agents.start(HostFixture.recipe({ agentId, templateId: 'shell', epoch: 2 }));
      expect(readdirSync(staging)).toEqual([]);
      writeFileSync(join(staging, 'half'), '');
      await host.agents.remove(agentId);
      expect(existsSync(staging)).toBe(false);
    },
  );

  it.each(ALL_VARIANTS)(
    '%s exposes no secret of the agent in a process list or a file',
    async (_, features) => {
      host = await HostFixture.open({ features });
      const agentId = await start();
      expect(await sh(agentId, 'echo $API_KEY')).toBe('sesame-open');
      const lines = await Promise.all(
        (await listPids()).map(async (pid) =>
          (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' '),
        ),
      );
      expect(lines.filter((line) => /sesame-open|token-of-this-start/.test(line))).toEqual([]);
      const { state, logs } = agentFolders(host.dataDir, agentId);
      for (const file of [state, join(logs, '00000001.log'), join(logs, 'guest.log')]) {
        expect(readFileSync(file, 'utf8')).not.toMatch(/sesame-open|token-of-this-start/);
      }
    },
  );

  it.each(AS_ROOT)(
    '%s denies an agent access to the host’s data and to other agents',
    async (_, features) => {
      host = await HostFixture.open({ features });
      const [one, other] = await Promise.all([start(), start()]);
      writeFileSync(join(host.dataDir, 'secret'), 'hush', { mode: 0o600 });
      mkdirSync(join(host.dataDir, 'agents/pub'), { mode: 0o755 });
      await sh(other, 'echo mine > $BERTH_VOLUME/f');
      const theirs = await volume(other);
      expect(statSync(host.dataDir).mode & 0o777).toBe(0o700);
      const uids = await Promise.all([sh(one, 'id -u'), sh(other, 'id -u')]);
      expect(new Set([...uids, '0']).size).toBe(3);
      for (const path of [
        join(host.dataDir, 'secret'),
        join(theirs, 'f'),
        agentFolders(host.dataDir, one).state,
      ]) {
        expect(await sh(one, `cat ${path} 2>&1`)).toMatch(/Permission denied|No such file/);
      }
      expect(await sh(one, `kill -9 $(pgrep -u 0 -f ${GUEST_MAIN}) 2>&1`)).toMatch(/not permitted/);
      expect(await sh(other, 'echo still')).toBe('still');
      expect(await sh(one, 'sudo -n id -u 2>/dev/null || su -c id 2>/dev/null </dev/null || echo no')).toBe(
        'no',
      );
      expect(
        await sh(one, 'touch $BERTH_VOLUME/../template/x 2>&1; ls $BERTH_VOLUME/../template 2>/dev/null'),
      ).not.toMatch(/^x$/m);
    },
  );

  it.each(AS_ROOT)(
    '%s leaves to the next user of its id nothing that an agent has stored where all users do',
    async (_, features) => {
      host = await HostFixture.open({ features });
      const agentId = await start();
      const uid = await sh(agentId, 'id -u');
      const leave = `umask 77; for d in ${SHARED.join(' ')}; do mkdir $d/of-${uid}; echo s > $d/of-${uid}/f; done`;
      expect(await sh(agentId, `${leave}; ipcmk -M 64 -Q -S 1 > /dev/null; cat /tmp/of-${uid}/f`)).toBe('s');
      const download = {
        kind: 'download',
        path: `/tmp/of-${uid}/f`,
        within: 'agent',
        limitBytes: 9,
      } as const;
      expect(await (await host.transfer(agentId, 1, download)).body.text()).toBe('s\n');
      if (features?.views !== false) expect(leftBy(uid)).toEqual([]);
      await host.agents.remove(agentId);
      expect(leftBy(uid)).toEqual([]);
    },
  );

  it.each(AS_ROOT)('%s leaves nothing there that a build has stored', async (_, features) => {
    host = await HostFixture.open({ features });
    const taskId = newId('dep');
    const folder = host.driver.codeFolder(newId('agt'), taskId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const script = `for d in ${SHARED.join(' ')}; do touch $d/of-$(id -u); done; ipcmk -M 64; id -u`;
    const limits = { memoryBytes: 1e9, cpus: 1, processes: 100, diskBytes: 1e9 };
    let output = '';
    await host.driver.runTask(
      { taskId, folder, script, env: {}, limits, network: 'public', runtimeClass: null },
      (chunk) => (output += chunk.toString('utf8')),
      new AbortController().signal,
    );
    const uid = output.trim().split('\n').at(-1) ?? '';
    expect(uid).toMatch(/^\d{4,}$/);
    expect(leftBy(uid)).toEqual([]);
  });
});
