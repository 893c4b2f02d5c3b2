import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DriverFixture, type StartedBox } from '../driver-contract/driver.fixture.js';
import { guestPidsInside } from './__fixtures__/guest-pids.fixture.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

const LEAST_ID_OUTSIDE = 65_536;
/** CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID and NET_BIND_SERVICE, by their bits. */
const AT_MOST = 0b100_1101_1011n;
const GUEST = 65_533;

describe('an agent that is root inside', () => {
  let host: DriverFixture;
  let started: StartedBox;

  beforeAll(async () => {
    host = await DriverFixture.open(nerdctlDriverUnderTest);
    started = await host.start({ user: 'root', rootFileSystem: 'writable' });
  });

  afterAll(() => host.destroy());

  const guestPid = (): number => (started.box.record as { guest: { pid: number } }).guest.pid;

  it('is root, with the seven capabilities at most, no new privileges and a filter of system calls', async () => {
    expect(await started.sh('id -u; id -g')).toBe('0\n0');
    const status = await started.sh('cat /proc/self/status');
    const sets = [...status.matchAll(/^Cap(\w+):\s+([0-9a-f]+)$/gm)].map(([, name, bits]) => [
      name,
      BigInt(`0x${bits}`),
    ]);
    expect(sets).toEqual([
      ['Inh', 0n],
      ['Prm', AT_MOST],
      ['Eff', AT_MOST],
      ['Bnd', AT_MOST],
      ['Amb', 0n],
    ]);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^Groups:\s*$/m);
  });

  it('has no id below 65,536 outside, and not that of its guest', async () => {
    const maps = await started.sh('cat /proc/self/uid_map /proc/self/gid_map');
    const lines = maps.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    expect(lines.length).toBe(4);
    for (const [from = 0, , size = 0] of lines) expect(from <= GUEST && GUEST < from + size).toBe(false);
    const outside = readFileSync(`/proc/${guestPid()}/uid_map`, 'utf8').trim().split(/\s+/).map(Number);
    expect(outside[1]).toBeGreaterThanOrEqual(LEAST_ID_OUTSIDE);
  });

  it('does what packages and the usual images do: owners, other users, system folders, ports below 1,024', async () => {
    const installed =
      'mkdir -p /usr/lib/app && echo x > /usr/lib/app/x && busybox chown 33:34 /usr/lib/app/x';
    expect(await started.sh(`${installed} && stat -c %u:%g /usr/lib/app/x`)).toBe('33:34');
    expect(await started.sh('chmod 600 /usr/lib/app/x && cat /usr/lib/app/x')).toBe('x');
    const become = 'process.setgroups([50]); process.setgid(34); process.setuid(33);';
    const other = `${become} console.log(process.getuid(), process.getgid(), fs.readFileSync("/usr/lib/app/x", "utf8").trim())`;
    expect(await started.sh(`node -e '${other}'`)).toBe('33 34 x');
    const listen =
      'require("net").createServer().listen(80, () => { console.log("listens"); process.exit(); })';
    expect(await started.sh(`node -e '${listen}'`)).toBe('listens');
    expect(
      await started.sh('echo x > /run/x && echo x > /workspace/x && stat -c %u /run/x /workspace/x'),
    ).toBe('0\n0');
  });

  it('cannot signal, trace or read its guest, whose processes and folders belong to the user nobody inside', async () => {
    const attempts = [
      ...(await guestPidsInside(started)).flatMap((pid) => [
        `kill -9 ${pid}`,
        `cat /proc/${pid}/environ`,
        `cat /proc/${pid}/mem`,
        `cat /proc/${pid}/maps`,
        `ls /proc/${pid}/fd`,
        `ls /proc/${pid}/root/`,
        `ls /proc/${pid}/cwd/`,
        `cat /proc/${pid}/ns/user`,
        `echo 1000 > /proc/${pid}/oom_score_adj`,
      ]),
      'ls /.berth/run',
      'ls /.berth/logs',
      'ls /.berth/journal',
      'ls /.berth/disk',
      'busybox chown 0 /.berth/journal',
      'chmod 777 /.berth/journal',
      'echo 0 > /.berth/groups/memory',
      'echo 0 > /.berth/groups/processes/tasks',
      'mkdir /.berth/groups/processes/own',
    ];
    for (const attempt of attempts) {
      const { exitCode, stderr } = await started.run(attempt);
      expect([attempt, exitCode, stderr]).toEqual([
        attempt,
        1,
        expect.stringMatching(/not permitted|denied/i),
      ]);
    }
    expect(await started.sh('echo the guest responds')).toBe('the guest responds');
  });

  it('reaches its guest as no user that it can become', async () => {
    // A change of the user takes Node a moment: those next to the guest's, and every 64th of the others.
    const script = [
      'Error.stackTraceLimit = 0; const refusedAs = [], noSuchUser = [];',
      'for (let id = 0; id < 65536; id += id < 65408 ? 64 : 1) {',
      '  try { process.seteuid(id) } catch { noSuchUser.push(id); continue }',
      '  try { process.kill(1, 0) } catch (error) { if (error.code === "EPERM") refusedAs.push(id) }',
      '  process.seteuid(0);',
      '}',
      'console.log(refusedAs.length, noSuchUser.join());',
    ].join(' ');
    expect(await started.sh(`node -e '${script}'`)).toBe(`1149 ${GUEST}`);
    expect(await started.sh(`node -e 'process.setuid(${GUEST})' 2>&1 || true`)).toMatch(/EINVAL/);
    expect((await started.run(`busybox chown ${GUEST} /etc/passwd`)).exitCode).toBe(1);
  });

  it('cannot replace, rename or cover what Berth brings', async () => {
    const attempts = [
      'echo x > /.berth/no.preload',
      'echo x > /.berth/kit/bin/node',
      'rm /.berth/kit/bin/node',
      'busybox mv /.berth /elsewhere',
      'busybox mv /.berth/kit /.berth/other',
      'busybox mv /.berth/run /tmp/run',
      'busybox rmdir /.berth/code',
      'busybox mv /workspace /elsewhere',
      'busybox umount /.berth/kit',
      'busybox mount -t tmpfs none /.berth',
      'busybox mount -o bind /tmp /.berth/kit',
    ];
    for (const attempt of attempts)
      expect([attempt, (await started.run(attempt)).exitCode]).toEqual([attempt, 1]);
    expect(await started.sh('test -x /.berth/kit/bin/node && echo whole')).toBe('whole');
  });

  it('writes, unless its root file system is writable, only to its volume and to the folders in memory', async () => {
    const other = await host.start({ user: 'root' });
    for (const folder of [
      '/',
      '/bin',
      '/etc',
      '/.berth',
      '/proc/sys/kernel',
      '/sys/kernel',
      '/sys/fs/cgroup',
    ])
      expect([folder, (await other.run(`echo x > ${folder}/probe`)).exitCode]).toEqual([folder, 1]);
    for (const folder of ['/workspace', '/tmp', '/var/tmp', '/run', '/dev/shm'])
      expect([folder, (await other.run(`echo x > ${folder}/probe`)).exitCode]).toEqual([folder, 0]);
    const filled = await other.run('dd if=/dev/zero of=/dev/probe bs=1M count=1');
    expect(filled).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No space left/) as unknown });
  });

  it('cannot leave its namespaces or create others, nor change the kernel’s settings, nor make devices', async () => {
    const attempts = [
      'busybox unshare -U true',
      'busybox unshare -m true',
      'busybox unshare -n true',
      'busybox nsenter -t 1 -U true',
      'busybox nsenter -t 1 -m true',
      'busybox mount -t proc none /tmp',
      'busybox hostname other',
      'busybox chroot / true',
      'mknod /tmp/disk b 7 0',
      'mknod /disk c 1 1',
      'echo x > /proc/sys/kernel/core_pattern',
      'echo x > /proc/sys/kernel/hostname',
      'echo 1 > /proc/sys/net/ipv4/ip_forward',
      'echo b > /proc/sysrq-trigger',
      'echo x > /sys/kernel/probe',
      'busybox ip link set lo down',
    ];
    for (const attempt of attempts) {
      const { exitCode, stderr } = await started.run(attempt);
      expect([attempt, exitCode === 0, stderr]).toEqual([
        attempt,
        false,
        expect.stringMatching(/not permitted|denied|read-only|no such|can't create/i),
      ]);
    }
  });

  it('keeps its rights and its guest’s when the driver restarts, and takes its volume along to another user and back', async () => {
    await started.sh('echo root > /workspace/mine; chmod 600 /workspace/mine');
    await host.reopen();
    const { agentId } = started.box;
    const user = await host.start({ agentId, epoch: 2 });
    expect(await user.sh('id -u; cat /workspace/mine; echo more >> /workspace/mine && echo wrote')).toBe(
      '1000\nroot\nwrote',
    );
    started = await host.start({ agentId, epoch: 3, user: 'root' });
    expect(await started.sh('id -u; cat /workspace/mine; stat -c %u /workspace/mine')).toBe(
      '0\nroot\nmore\n0',
    );
    expect((await started.run('echo x > /etc/x')).exitCode).toBe(1);
  });
});
