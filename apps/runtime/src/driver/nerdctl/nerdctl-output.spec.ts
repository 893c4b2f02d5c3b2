import { describe, expect, it } from 'vitest';
import type { BoxSpec } from '../box-spec.js';
import { parseContainerList } from './container-list.js';
import { runArguments, scopeArguments } from './nerdctl-arguments.js';
import { toDriverError } from './nerdctl-failures.js';
import { mountPointsBelow, mountPointsOf } from './mount-points.js';

const MB = 1024 * 1024;
const ID = 'e22993730a7cc39176d9d37d532f0181da11d85b92a2fb5af1e10c0e0308f223';

const spec: BoxSpec = {
  agentId: 'agt_01',
  epoch: 7,
  source: { kind: 'template', version: 1, name: 'echo', folder: '/templates/echo', image: null },
  command: null,
  env: {},
  guestFolders: { run: '/a/run', logs: '/a/logs', journal: '/a/journal' },
  limits: { memoryBytes: 512 * MB, cpus: 0.5, processes: 1024, diskBytes: 1024 * MB },
  user: 'unprivileged',
  rootFileSystem: 'read-only',
  runtimeClass: null,
  network: 'none',
  volumePath: null,
};

const parts = {
  image: 'example.test/image:1',
  runtime: undefined,
  subidUser: 'berth',
  inside: '/data/inside',
  kit: '/kit/1',
  code: '/templates/echo',
  disk: '/a/disk',
  resolvConf: '/data/resolv.conf',
  groups: [{ from: '/sys/fs/cgroup/memory/berth-abc/agt_01/cgroup.procs', to: '/.berth/groups/memory' }],
  groupParent: undefined,
  idFile: '/ids/agt_01',
  command: ['/.berth/kit/lib/ld.so', '/.berth/kit/bin/node'],
  env: { A: 'b c' },
  openFiles: 1024,
} as const;

describe('the command line of a new container', () => {
  const args = runArguments(spec, 'abc', parts);

  it('names the agent, the epoch and the installation', () => {
    expect(args).toEqual(
      expect.arrayContaining([
        '--name=agt_01.7',
        '--label=berth.instance=abc',
        '--label=berth.agent=agt_01',
        '--label=berth.epoch=7',
      ]),
    );
  });

  it('isolates it: a user namespace, no network, no new privileges, a read-only root', () => {
    expect(args).toEqual(
      expect.arrayContaining([
        '--userns-remap=berth',
        '--network=none',
        '--cap-drop=ALL',
        '--security-opt=no-new-privileges',
        '--read-only',
      ]),
    );
  });

  it('gives the guest a way to the agent’s control groups, and names their parent only if they need one', () => {
    expect(args).toContain(
      '--volume=/sys/fs/cgroup/memory/berth-abc/agt_01/cgroup.procs:/.berth/groups/memory:rw',
    );
    expect(args.join(' ')).not.toContain('--cgroup-parent');
    const nested = runArguments(spec, 'abc', { ...parts, groupParent: '/berth-abc/agt_01' });
    expect(nested).toContain('--cgroup-parent=/berth-abc/agt_01');
  });

  it('limits the guest’s memory and processes, processors and open files, and tmpfs to half of the agent’s memory', () => {
    expect(args).toEqual(
      expect.arrayContaining([
        `--memory=${256 * MB}`,
        '--cpus=0.5',
        '--pids-limit=1024',
        '--ulimit=nofile=1024:1024',
        '--ulimit=sigpending=1024:1024',
        '--ulimit=msgqueue=102400:102400',
      ]),
    );
    const sizes = args.flatMap((arg) => /^--(?:tmpfs|shm-size)=.*?(\d+)$/.exec(arg)?.[1] ?? []);
    expect(sizes).toHaveLength(4);
    expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(256 * MB);
  });

  it('ends with the guest as the entry point, the image and the guest’s arguments', () => {
    expect(args.slice(-3)).toEqual([
      '--entrypoint=/.berth/kit/lib/ld.so',
      'example.test/image:1',
      '/.berth/kit/bin/node',
    ]);
  });

  it('names the socket of containerd only if the installation sets one', () => {
    const scope = { namespace: 'berth-abc', address: undefined, dataRoot: '/d', networks: '/n' };
    expect(scopeArguments(scope)).not.toContainEqual(expect.stringContaining('--address'));
    expect(scopeArguments({ ...scope, address: '/c.sock' })).toContain('--address=/c.sock');
  });
});

describe('the list of containers', () => {
  // As printed by nerdctl 2.1.2.
  const line = (name: string, labels = 'berth.epoch=7,nerdctl/namespace=berth-x'): string =>
    `{"Command":"\\"/bin/sh -c sleep 100\\"","CreatedAt":"2026-11-22T18:46:34.657255516Z","ID":"${ID}",` +
    `"Image":"berth.test/shell:1","Platform":"linux/amd64","Names":"${name}","Ports":"","Status":"Created",` +
    `"Runtime":"io.containerd.runc.v2","Size":"","Labels":"${labels}"}`;

  it('names the agent or computer and the epoch of each container', () => {
    const found = parseContainerList(`${line('agt_01.7')}\n${line('cmp_02.12')}\n`);
    expect(found).toEqual([
      { agentId: 'agt_01', epoch: 7, id: ID },
      { agentId: 'cmp_02', epoch: 12, id: ID },
    ]);
  });

  it('ignores the labels, because an image can set them', () => {
    const found = parseContainerList(line('agt_01.7', 'berth.epoch=99,berth.agent=agt_09'));
    expect(found).toEqual([{ agentId: 'agt_01', epoch: 7, id: ID }]);
  });

  it('names a container that is neither an agent’s nor a task’s by its id, and is empty without containers', () => {
    const found = parseContainerList(`${line('postgres')}\n${line('')}\n${line('agt_01')}`);
    expect(found).toEqual(Array(3).fill({ agentId: ID, epoch: null, id: ID }));
    expect(parseContainerList('\n')).toEqual([]);
  });
});

describe('a failed call', () => {
  const at = 'time="2026-11-22T18:46:36Z" level=fatal msg=';

  it.each([
    [
      'host_unavailable',
      `${at}"cannot access containerd socket \\"/nonexistent\\": no such file or directory"`,
    ],
    [
      'image_unavailable',
      `${at}"failed to resolve reference \\"berth.test/nosuch:1\\": failed to do request"`,
    ],
    [
      'image_unavailable',
      `${at}"failed to resolve reference \\"localhost:1/x:1\\": failed to do request: Head ` +
        '\\"http://localhost:1/v2/x/manifests/1\\": dial tcp 127.0.0.1:1: connect: connection refused"',
    ],
    ['image_unavailable', `${at}"image not available: \\"docker.io/library/debian@sha256:465a\\""`],
    [
      'runtime_class_unavailable',
      `${at}"failed to start shim: failed to resolve runtime path: runtime \\"io.containerd.runsc.v1\\" binary not ` +
        'installed \\"containerd-shim-runsc-v1\\": file does not exist"',
    ],
    [
      'guest_not_started',
      `${at}"failed to create shim task: OCI runtime create failed: runc create failed: unable to start container ` +
        'process: error during container init: exec /.berth/kit/lib/ld.so: no such file or directory"',
    ],
  ])(
    'is %s according to the output of nerdctl, which is its cause and not in its message',
    (code, stderr) => {
      const error = toDriverError({ stderr, timedOut: false });
      expect(error?.code).toBe(code);
      expect(error?.message).not.toMatch(/nerdctl|containerd|ld\.so|berth\.test/);
      expect(String(error?.cause)).toContain('level=fatal');
    },
  );

  it('is host_unavailable if it timed out', () => {
    expect(toDriverError({ stderr: '', timedOut: true })?.code).toBe('host_unavailable');
  });

  it('is unknown otherwise', () => {
    expect(toDriverError({ stderr: `${at}"something new"`, timedOut: false })).toBeUndefined();
  });
});

describe('the mounts of the host', () => {
  const info = [
    '612 27 7:0 / /data/a\\040b/disk rw,nosuid - ext4 /dev/loop0 rw,discard',
    '613 27 7:0 /root/1 /containerd/7 rw,nosuid - ext4 /dev/loop0 rw,discard',
    '25 1 254:0 / / rw - ext4 /dev/vda rw',
    '',
  ].join('\n');

  it('show where else the file system of a path is mounted, even one with escaped characters', () => {
    expect(mountPointsOf(info, '/data/a b/disk')).toEqual(['/containerd/7', '/data/a b/disk']);
    expect(mountPointsOf(info, '/')).toEqual(['/']);
  });

  it('show each mount at and below a path', () => {
    expect(mountPointsBelow(`${info}700 25 0:1 / /data rw - x x rw`, '/data')).toEqual([
      '/data/a b/disk',
      '/data',
    ]);
    expect(mountPointsBelow(info, '/data/a')).toEqual([]);
  });

  it('do not show a path that is no mount point', () => {
    expect(mountPointsOf(info, '/data/a b')).toEqual([]);
    expect(mountPointsOf('', '/')).toEqual([]);
  });
});
