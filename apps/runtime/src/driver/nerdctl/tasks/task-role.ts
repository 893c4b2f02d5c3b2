import { AGENT_IDS } from '../paths-inside.js';
import { TASK_RIGHTS } from './task-rights.js';
import type { TaskDisk } from './task-disk.js';

/** What distinguishes the kinds of tasks. */
export interface TaskRole {
  /** The user of its processes inside. */
  readonly user: { readonly uid: number; readonly gid: number };
  /** Arguments for what it may do and what it finds inside. */
  readonly options: readonly string[];
  /** Takes what a task that has exited has made from its disk. No process of it is left. */
  finish(disk: TaskDisk, code: number): Promise<void>;
}

/** Runs a repository's own commands without any right, and gives its code back. */
export const commandRole = (folder: string): TaskRole => ({
  user: AGENT_IDS,
  options: TASK_RIGHTS,
  finish: (disk) => disk.handBack(folder),
});
