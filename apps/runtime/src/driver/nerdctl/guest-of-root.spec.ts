import { describe, expect, it } from 'vitest';
import { guestOfRoot } from './guest-of-root.js';

const spec = {
  ociVersion: '1.2.0',
  mounts: [
    { destination: '/proc' },
    { destination: '/dev', type: 'tmpfs', options: ['nosuid', 'size=65536k'] },
  ],
  process: {
    user: { uid: 0, gid: 0 },
    capabilities: { permitted: ['CAP_KILL'], ambient: [] },
    args: ['node'],
  },
  linux: {
    seccomp: { defaultAction: 'SCMP_ACT_ERRNO', syscalls: [{ names: ['read'] }] },
    readonlyPaths: ['/b'],
    cgroupsPath: '/a',
  },
};

describe('the configuration of a guest whose agent is root inside', () => {
  it('runs as a user other than root with the given capabilities, and is otherwise unchanged', () => {
    const { process, linux, mounts: _, ...others } = guestOfRoot(spec);
    expect(others).toEqual({ ociVersion: '1.2.0' });
    expect(process).toEqual({
      user: { uid: 65_533, gid: 65_533 },
      capabilities: { permitted: ['CAP_KILL'], inheritable: ['CAP_KILL'], ambient: ['CAP_KILL'] },
      args: ['node'],
    });
    expect(linux).toMatchObject({ cgroupsPath: '/a', seccomp: { defaultAction: 'SCMP_ACT_ERRNO' } });
  });

  it('has no room in /dev, and a read-only /sys/fs/cgroup', () => {
    const { linux, mounts } = guestOfRoot(spec);
    expect(linux.readonlyPaths).toEqual(['/b', '/sys/fs/cgroup']);
    expect(mounts).toEqual([
      { destination: '/proc' },
      { destination: '/dev', type: 'tmpfs', options: ['nosuid', 'size=65536k', 'size=64k'] },
    ]);
  });

  it('allows no system calls more than those into a new user namespace', () => {
    const added = guestOfRoot(spec).linux.seccomp?.syscalls?.slice(1);
    const isUser = { value: 0x10000000, op: 'SCMP_CMP_EQ' };
    expect(added).toEqual([
      { names: ['unshare'], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, ...isUser }] },
      { names: ['setns'], action: 'SCMP_ACT_ALLOW', args: [{ index: 1, ...isUser }] },
    ]);
  });

  it('is refused for a container without a filter of system calls', () => {
    expect(() => guestOfRoot({ ...spec, linux: {} })).toThrow(/no filter/);
  });
});
