import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Controller, Hierarchy } from './cgroup-hierarchies.js';

/** Limits of all processes of a group together. */
export interface GroupLimits {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
}

/** Controllers that limit something. */
export const LIMITING: readonly Controller[] = ['memory', 'pids'];

/** Limits the group in `folder` as far as its hierarchy can. */
export const limitGroup = async (
  { version, controllers }: Pick<Hierarchy, 'version' | 'controllers'>,
  folder: string,
  { memoryBytes, processes }: GroupLimits,
): Promise<void> => {
  const memory = version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
  if (controllers.includes('memory')) await writeFile(join(folder, memory), String(memoryBytes));
  if (controllers.includes('pids')) await writeFile(join(folder, 'pids.max'), String(processes));
};
