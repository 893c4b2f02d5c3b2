import { join } from 'node:path';
import type { Hierarchy } from './cgroup-hierarchies.js';

/**
 * The file to which a process with a single thread writes `0` to join the group in `folder`. Not `cgroup.procs` in
 * version 1: that moves all threads of a process, for which the kernel halts every fork of the machine, and waits about
 * 10 ms to do so if it has not just done it. `tasks` moves the thread that writes, and needs no such lock.
 */
export const joinFileOf = ({ version }: Pick<Hierarchy, 'version'>, folder: string): string =>
  join(folder, version === 1 ? 'tasks' : 'cgroup.procs');
