import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cgroupMounts } from '@berth/host-requirements';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { machineMemory, ownGroupMemory } from './host-memory.js';

const MB = 1024 ** 2;
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-memory-'));
});
afterEach(() => rm(folder, { recursive: true }));

const given = (files: Readonly<Record<string, string>>) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return ownGroupMemory(join(folder, 'self'), join(folder, 'mount'));
};

describe('the memory for boxes that share the control group of this process', () => {
  it('is the limit of a group of version 2, without its use but with its caches', () => {
    const memory = given({
      self: '0::/\n',
      'mount/memory.max': `${String(500 * MB)}\n`,
      'mount/memory.current': `${String(300 * MB)}\n`,
      'mount/memory.stat': `anon 1\nactive_file ${String(20 * MB)}\ninactive_file ${String(30 * MB)}\n`,
    });
    expect(memory).toEqual({ total: 500, free: 250 });
  });

  it('is that of a group of version 1 below the mount, or at it in a container', () => {
    const files = (path: string) => ({
      [`mount/memory/${path}memory.limit_in_bytes`]: String(500 * MB),
      [`mount/memory/${path}memory.usage_in_bytes`]: String(400 * MB),
      [`mount/memory/${path}memory.stat`]: `total_active_file 0\ntotal_inactive_file ${String(100 * MB)}\n`,
    });
    expect(given({ self: '9:cpu:/a\n5:memory:/a/b\n', ...files('a/b/') })).toEqual({ total: 500, free: 200 });
    expect(given({ self: '5:memory:/docker/c\n', ...files('') })).toEqual({ total: 500, free: 200 });
  });

  it('is never negative, and that of the machine without a limit or a readable group', () => {
    const limited = {
      self: '0::/\n',
      'mount/memory.max': String(MB),
      'mount/memory.current': String(2 * MB),
    };
    expect(given(limited)).toEqual({ total: 1, free: 0 });
    expect(given({ ...limited, 'mount/memory.max': 'max\n' }).total).toBe(machineMemory().total);
    expect(given({ self: '' }).total).toBe(machineMemory().total);
  });

  it('is that of a real group with a limit, for a process in it', async () => {
    const mounts = cgroupMounts(readFileSync('/proc/mounts', 'utf8'));
    const ofMemory = mounts.find(
      ({ version, controllers }) => version === 1 && controllers.includes('memory'),
    );
    const mount = ofMemory ?? mounts.find(({ version }) => version === 2);
    const group = join(mount?.path ?? '', `berth-memory-${String(process.pid)}`);
    mkdirSync(group);
    try {
      const limit = mount?.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
      writeFileSync(join(group, limit), String(200 * MB));
      const script = `echo $$ > ${join(group, 'cgroup.procs')} && echo joined && exec sleep 60`;
      const inside = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(inside.stdout, 'data');
      const memory = ownGroupMemory(`/proc/${String(inside.pid)}/cgroup`);
      inside.kill('SIGKILL');
      await once(inside, 'exit');
      expect(memory.total).toBe(200);
      expect(memory.free).toBeLessThan(200);
      expect(memory.free).toBeGreaterThan(50);
    } finally {
      rmdirSync(group);
    }
  });
});
