import { describe, expect, it } from 'vitest';
import { cgroupMounts } from './cgroup-mounts.js';

describe('the mounts of cgroups', () => {
  it('are classified by version and controllers', () => {
    const mounts = [
      'proc /proc proc rw 0 0',
      'cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0',
      'cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0',
      '',
    ].join('\n');
    expect(cgroupMounts(mounts)).toEqual([
      { version: 1, path: '/sys/fs/cgroup/freezer', controllers: ['rw', 'relatime', 'freezer'] },
      { version: 2, path: '/sys/fs/cgroup/unified', controllers: [] },
    ]);
  });
});
