import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from '../bench-error.js';
import { openContainerPeer, type ContainerPeer } from './container-peer.js';
import { findExecutable, usualFolders } from './executables.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-peer-spec-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with only these of the machine's programs, so that a test controls what is installed. */
const programs = (...names: readonly string[]): string => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of names) {
    const found = findExecutable(name, usualFolders(process.env));
    // If it is missing, the peer refuses with the command that installs it.
    if (found !== undefined) symlinkSync(found, join(bin, name));
  }
  return bin;
};

const script = (bin: string, name: string, text: string): void =>
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });

/**
 * Whether this machine lets us create namespaces and control groups, which an unprivileged container does not. Tested
 * with the system and not with runc, so that a broken runc does not count as a restriction.
 */
const mayMakeContainers = (): boolean => {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  const { status } = spawnSync('unshare', [...user, '--mount', '--pid', '--fork', 'true']);
  return status === 0 && (!isRoot || CONTROL_GROUPS.some(isWritable));
};

/** In version 2 the groups are at the top, in version 1 below each controller. */
const CONTROL_GROUPS = ['/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/memory/cgroup.procs'];

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Opens a peer, runs `use` and closes it. On a machine that forbids containers, expects the error that says so. */
const withPeer = async (
  open: () => Promise<ContainerPeer>,
  use: (peer: ContainerPeer) => Promise<void>,
): Promise<void> => {
  const before = traces();
  if (mayMakeContainers()) {
    const peer = await open();
    await use(peer).finally(() => peer.close());
  } else {
    await expect(open()).rejects.toThrow(/runc ended before[^]*(not permitted|denied|read-only)/);
  }
  expect(traces()).toEqual(before);
};

/** Everything by which a container is visible on this machine. */
const traces = () => ({
  processes: execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((args) => /berth-bench-|dockerd|containerd-shim|echo ready/.test(args))
    // These have ended already; the machine's init process decides when it reaps them.
    .filter((args) => !args.includes('<defunct>')),
  mounts: readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    // Tests beside this one mount file systems for their own folders.
    .filter((line) => line.includes('berth-bench-') || line.includes(folder)),
  controlGroups: ['/sys/fs/cgroup', ...foldersIn('/sys/fs/cgroup')]
    .flatMap(foldersIn)
    .filter((path) => path.includes('berth-bench-')),
  sockets: readdirSync(tmpdir()).filter((name) => name.startsWith('berth-bench-')),
  folders: ['/etc/docker', '/run/docker', '/run/containerd', '/opt/containerd'].filter((path) =>
    existsSync(path),
  ),
  files: readdirSync(folder).filter((name) => name !== 'bin'),
});

const foldersIn = (parent: string): string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name));

describe('the container for comparison with an execution', () => {
  it('runs a command, throws for a failing one, and leaves nothing behind', async () => {
    const before = traces();
    await withPeer(
      () => openContainerPeer(folder, process.env),
      async (peer) => {
        await peer.exec(['true']);
        await expect(peer.exec(['false'])).rejects.toThrow(/exec .* false" ended with code 1/);
        await expect(peer.exec(['no-such-program'])).rejects.toThrow(BenchError);
        const during = traces();
        expect(during.files).not.toEqual(before.files);
        expect(during.processes.length).toBeGreaterThan(before.processes.length);
      },
    );
  });

  it('is one of runc if docker is not installed, and leaves nothing behind', async () => {
    const bin = programs('runc', 'busybox');
    await withPeer(
      () => openContainerPeer(folder, { PATH: bin }, [bin]),
      async (peer) => {
        expect(peer.name).toBe('runc exec');
        await peer.exec(['sh', '-c', '! test -e /etc/passwd']);
        await expect(peer.exec(['sh', '-c', 'test -e /etc/passwd'])).rejects.toThrow(BenchError);
      },
    );
  });

  it('is one of runc if the docker daemon does not start, and leaves nothing behind', async () => {
    const bin = programs('runc', 'busybox');
    for (const name of ['docker', 'dockerd']) script(bin, name, 'echo "no daemon here" >&2; exit 1');
    await withPeer(
      () => openContainerPeer(folder, process.env, [bin, '/usr/bin', '/bin']),
      async (peer) => {
        expect(peer.name).toBe('runc exec');
        await peer.exec(['true']);
      },
    );
  });

  it('fails with the output of the tool if it cannot be started, and leaves nothing behind', async () => {
    const before = traces();
    const bin = programs('busybox');
    const real = findExecutable('runc', usualFolders(process.env));
    script(bin, 'runc', `case "$*" in *" run "*) echo "out of order" >&2; exit 3;; esac; exec ${real} "$@"`);
    const attempt = openContainerPeer(folder, process.env, [bin]);
    await expect(attempt).rejects.toThrow(/runc ended before it was ready.*\n.*out of order/);
    expect(traces()).toEqual(before);
  });

  it('fails if its BusyBox needs libraries', async () => {
    const before = traces();
    const bin = programs('runc');
    symlinkSync(process.execPath, join(bin, 'busybox'));
    await expect(openContainerPeer(folder, process.env, [bin])).rejects.toThrow(
      /needs shared libraries.*apt-get install -y busybox-static/,
    );
    expect(traces()).toEqual(before);
  });

  it('fails with the command that installs what is missing, and leaves nothing behind', async () => {
    const before = traces();
    const bin = programs('busybox');
    await expect(openContainerPeer(folder, { PATH: bin }, [bin])).rejects.toThrow(
      /apt-get install -y docker\.io busybox-static .*apt-get install -y runc busybox-static/,
    );
    await expect(openContainerPeer(folder, { PATH: folder }, [folder])).rejects.toThrow(/busybox-static/);
    expect(traces()).toEqual(before);
  });
});
