import { readFileSync, readdirSync, statSync, watch } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DriverFixture, type StartedBox } from '../driver-contract/driver.fixture.js';
import { staticProgram, type MachineCode } from './elf-program.plan.js';
import { QUEUE_WITHOUT_END, WATCH_WITHOUT_END } from './__fixtures__/greedy-programs.fixture.js';
import { guestPidsInside } from './__fixtures__/guest-pids.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

const MB = 1024 * 1024;
const LEAST_ID_OUTSIDE = 65_536;

/** The second number of each line of an id map: the id outside. */
const idsOutside = (map: string): readonly number[] =>
  map
    .trim()
    .split('\n')
    .map((line) => Number(line.trim().split(/\s+/)[1]));

describe('an agent in a container', () => {
  let host: DriverFixture;
  let started: StartedBox;

  beforeAll(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
    started = await host.start();
  });

  afterAll(() => host.destroy());

  /** Process ids of the container, as the host sees them. */
  const pidsOutside = (): readonly number[] => {
    const { record } = started.box;
    const { guest } = record as { guest: { pid: number } };
    const group = readFileSync(`/proc/${guest.pid}/cgroup`, 'utf8');
    const path = /^0::(.*)$/m.exec(group)?.[1] ?? '';
    const root = readdirSync('/sys/fs/cgroup').includes('unified')
      ? '/sys/fs/cgroup/unified'
      : '/sys/fs/cgroup';
    return readFileSync(join(root, path, 'cgroup.procs'), 'utf8')
      .trim()
      .split('\n')
      .map(Number);
  };

  it('runs in a user namespace in which no id is an id below 65,536 outside, the guest’s neither', async () => {
    await started.detach('sleep 30');
    const pids = pidsOutside();
    expect(pids.length).toBeGreaterThan(1);
    for (const pid of pids) {
      for (const map of ['uid_map', 'gid_map'])
        for (const id of idsOutside(readFileSync(`/proc/${pid}/${map}`, 'utf8')))
          expect(id).toBeGreaterThanOrEqual(LEAST_ID_OUTSIDE);
    }
  });

  it('is limited in control groups beside its guest’s, which it cannot leave', async () => {
    const groupsOf = (pid: number): readonly string[] =>
      readFileSync(`/proc/${pid}/cgroup`, 'utf8')
        .split('\n')
        .filter((line) => /:(memory|pids|):/.test(line));
    await started.detach('sleep 30');
    const { guest } = started.box.record as { guest: { pid: number } };
    const userOf = (pid: number): number => statSync(`/proc/${pid}`).uid;
    const others = pidsOutside().filter((pid) => userOf(pid) !== userOf(guest.pid));
    expect(others).not.toEqual([]);
    for (const pid of others) expect(groupsOf(pid)).not.toEqual(groupsOf(guest.pid));
    const groups = [
      '/.berth/groups/memory',
      '/.berth/groups/processes/tasks',
      '/.berth/groups/processes/own/tasks',
    ];
    const enter = groups.map(
      (file) => `(mkdir -p \${file%/*}; echo 0 > ${file}) 2> /dev/null || echo refused`,
    );
    expect(await started.sh(enter.join('; '))).toBe('refused\nrefused\nrefused');
  });

  it('has the environment that it is given, unchanged by its start', async () => {
    const given = { 'a.b': '1', UID: '7', SHLVL: 'mine' };
    // A second command: otherwise the shell becomes the first, with an environment that the shell has changed.
    const request = { executionId: newId('exe'), command: 'cat /proc/$$/environ; :', cwd: null };
    const report = await started.client.execute(
      { ...request, env: given, timeoutMs: 30_000, waitMs: 30_000 },
      AbortSignal.timeout(30_000),
    );
    const seen = (report.stdout ?? '').split('\0');
    for (const [name, value] of Object.entries(given)) expect(seen).toContain(`${name}=${value}`);
    expect(seen.filter((line) => /^(?:PWD|OLDPWD|_)=/.test(line))).toEqual([]);
  });

  it('has no capability in any set, cannot gain privileges, and has a filter of system calls', async () => {
    const status = await started.sh('cat /proc/self/status');
    const sets = [...status.matchAll(/^Cap\w+:\s+([0-9a-f]+)$/gm)].map(([, bits]) => bits);
    expect(sets).toEqual(Array.from({ length: 5 }, () => '0000000000000000'));
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^Groups:\s*$/m);
  });

  it('cannot signal, trace or read its guest', async () => {
    const attempts = (await guestPidsInside(started)).flatMap((pid) => [
      `kill -9 ${pid}`,
      `cat /proc/${pid}/environ`,
      `cat /proc/${pid}/mem`,
      `ls /proc/${pid}/fd`,
      `ls /proc/${pid}/root`,
    ]);
    for (const attempt of attempts) {
      const { exitCode, stderr } = await started.run(attempt);
      expect([attempt, exitCode, stderr]).toEqual([
        attempt,
        1,
        expect.stringMatching(/not permitted|denied/),
      ]);
    }
    expect(await started.sh('echo the guest responds')).toBe('the guest responds');
  });

  it('cannot make the program that starts its processes load code, and still has such variables', async () => {
    const executionId = newId('exe');
    const env = { LD_PRELOAD: '/workspace/evil.so', LD_SHOW_AUXV: '1' };
    const command = 'echo "preloads $LD_PRELOAD"';
    const request = { executionId, command, cwd: null, env, timeoutMs: 30_000, waitMs: 30_000 };
    const ended = await started.client.execute(request, AbortSignal.timeout(30_000));
    expect(ended.stdout).toMatch(/preloads \/workspace\/evil\.so/);
    // A loader would show its own values, which begin with the user of the guest.
    expect(ended.stdout).not.toMatch(/AT_UID:\s+0/);
  });

  it('cannot enter the folders of its guest, and cannot change what Berth brings', async () => {
    for (const folder of ['run', 'logs', 'journal', 'disk'])
      expect(await started.sh(`ls /.berth/${folder} 2>&1; ls /.berth/${folder}/x 2>&1`)).toMatch(
        /denied.*\n.*denied/,
      );
    for (const file of ['kit/bin/node', 'code/template.json'])
      expect(await started.sh(`test -w /.berth/${file} && echo writable || echo protected`)).toBe(
        'protected',
      );
  });

  it('writes only to its volume and to folders in memory', async () => {
    for (const folder of ['/', '/bin', '/etc', '/.berth', '/run', '/proc/sys/kernel', '/sys/kernel'])
      expect([folder, (await started.run(`echo x > ${folder}/probe`)).exitCode]).toEqual([folder, 1]);
    for (const folder of ['/workspace', '/tmp', '/var/tmp', '/dev/shm'])
      expect([folder, (await started.run(`echo x > ${folder}/probe`)).exitCode]).toEqual([folder, 0]);
  });

  it('has no device but the usual ones, and cannot make one', async () => {
    const devices = await started.sh('find /dev -type b -o -type c | sort');
    const usual = ['full', 'null', 'random', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`);
    const own = devices.split('\n').filter((path) => !path.startsWith('/dev/pts/'));
    expect(own).toEqual(usual);
    expect((await started.run('mknod /tmp/disk b 7 0')).exitCode).toBe(1);
  });

  it('has a loopback of its own and one other interface, or none if its spec says so', async () => {
    const server = createServer((socket) => socket.end('host'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await started.sh(`nc -w 2 127.0.0.1 ${port} < /dev/null || echo refused`)).toBe('refused');
    expect(await started.sh('ls /sys/class/net')).toBe('eth0\nlo');
    const alone = await host.start({ network: 'none' });
    expect(await alone.sh('ls /sys/class/net')).toBe('lo');
    await host.driver.stop(alone.box.agentId, 0);
    server.close();
  });

  it('fills its folders in memory only to their size, and its guest survives', async () => {
    const small = { memoryBytes: 64 * MB, cpus: 1, processes: 256, diskBytes: 64 * MB };
    const greedy = await host.start({ limits: small });
    for (const folder of ['/tmp', '/var/tmp', '/dev/shm'])
      expect((await greedy.run(`dd if=/dev/zero of=${folder}/fill bs=1M count=100`)).exitCode).toBe(1);
    const used = await greedy.sh('cat /tmp/fill /var/tmp/fill /dev/shm/fill | wc -c');
    expect(Number(used)).toBeLessThanOrEqual(32 * MB);
    expect(await greedy.sh('echo alive')).toBe('alive');
  });

  /** Runs the program in the background. */
  const runIn = async (box: StartedBox, code: MachineCode): Promise<void> => {
    const program = staticProgram('greedy', code, process.arch).toString('hex');
    await box.sh(
      `node -e 'fs.writeFileSync("/tmp/greedy", Buffer.from("${program}", "hex"), { mode: 0o755 })' && ` +
        '{ setsid /tmp/greedy > /dev/null 2>&1 & }',
    );
  };
  const descriptorsIn = (box: StartedBox, target: string): Promise<string> =>
    box.sh(`for p in /proc/[0-9]*; do ls -l $p/fd 2> /dev/null; done | grep -c -- '-> ${target}'`);

  describe.each([
    ['an unprivileged user', {}],
    ['root inside', { user: 'root', rootFileSystem: 'writable' }],
  ] as const)('as %s', (_, spec) => {
    it('that watches files without end is stopped, and others still can', async () => {
      const greedy = await host.start(spec);
      await runIn(greedy, WATCH_WITHOUT_END);
      await eventually(async () => expect(await descriptorsIn(greedy, 'anon_inode:inotify')).toBe('128'));
      expect(await started.sh(`node -e 'fs.watch("/tmp").close(); console.log("watches")'`)).toBe('watches');
      watch('/tmp').close();
      await host.driver.stop(greedy.box.agentId, 0);
    });

    it('that queues signals and messages without end is stopped, and others still can', async () => {
      const [greedy, other] = [await host.start(spec), await host.start()];
      for (const box of [greedy, other]) {
        await runIn(box, QUEUE_WITHOUT_END);
        await eventually(async () => expect(await descriptorsIn(box, '/q (deleted)')).toBe('1'));
        expect(await box.sh('grep SigQ /proc/$(busybox pidof greedy)/status')).toBe('SigQ:\t1024/1024');
      }
      for (const { box } of [greedy, other]) await host.driver.stop(box.agentId, 0);
    });
  });

  it('that starts processes without end stays within its limit, and other agents run on', async () => {
    const greedy = await host.start({
      limits: { memoryBytes: 256 * MB, cpus: 1, processes: 100, diskBytes: 64 * MB },
    });
    // They outlive the shell, which ends when it cannot fork.
    await greedy.detach('while :; do sleep 600 & done');
    await eventually(async () => {
      expect((await host.driver.stats(greedy.box.agentId))?.processes).toBeGreaterThan(50);
    });
    expect((await host.driver.stats(greedy.box.agentId))?.processes).toBeLessThanOrEqual(100);
    expect(await started.sh('echo unharmed')).toBe('unharmed');
    await host.driver.stop(greedy.box.agentId, 0);
  });
});
