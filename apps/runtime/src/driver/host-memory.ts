import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { lineValue, toCount } from './cgroup/cgroup-figures.js';

const MB = 1024 ** 2;

/** Memory for boxes, in MiB. */
export interface HostMemory {
  readonly total: number;
  readonly free: number;
}

/** The memory of the machine. */
export const machineMemory = (): HostMemory => ({ total: toMb(totalmem()), free: toMb(freemem()) });

/**
 * The memory of the machine, or less if the control group of this process is limited: for boxes whose processes stay in
 * that group, for example in a container. File caches count as free, because the kernel drops them first;
 * `process.availableMemory` counts them as used.
 */
export const ownGroupMemory = (procFile = '/proc/self/cgroup', mount = '/sys/fs/cgroup'): HostMemory => {
  const machine = machineMemory();
  const group = readGroup(procFile, mount);
  if (group === undefined || toMb(group.limit) >= machine.total) return machine;
  const free = Math.max(0, group.limit - group.used + group.caches);
  return { total: toMb(group.limit), free: Math.min(machine.free, toMb(free)) };
};

interface GroupMemory {
  readonly limit: number;
  readonly used: number;
  readonly caches: number;
}

/** cgroups(7): a line of version 2 has no controllers; a namespace or a container shows its own group at the mount. */
const readGroup = (procFile: string, mount: string): GroupMemory | undefined => {
  for (const line of (read(procFile) ?? '').split('\n')) {
    const [, controllers, path] = line.split(':');
    if (controllers === undefined || path === undefined) continue;
    if (!controllers.split(',').includes('memory') && controllers !== '') continue;
    const version = controllers === '' ? V2 : V1;
    const root = join(mount, version.mounted);
    const found = readFiles(join(root, path), version) ?? readFiles(root, version);
    if (found !== undefined) return found;
  }
  return undefined;
};

const V2 = { mounted: '', limit: 'memory.max', used: 'memory.current', prefix: '' };
const V1 = {
  mounted: 'memory',
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  prefix: 'total_',
};

const readFiles = (
  folder: string,
  version: { readonly limit: string; readonly used: string; readonly prefix: string },
): GroupMemory | undefined => {
  const [limit, used] = [version.limit, version.used].map((file) => toCount(read(join(folder, file)) ?? ''));
  // No limit, or no such group.
  if (limit === undefined || used === undefined) return undefined;
  const stat = read(join(folder, 'memory.stat')) ?? '';
  const [active = 0, inactive = 0] = ['active_file', 'inactive_file'].map((name) =>
    lineValue(stat, `${version.prefix}${name}`),
  );
  return { limit, used, caches: active + inactive };
};

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const toMb = (bytes: number): number => Math.floor(bytes / MB);
