import { becomesTrue } from '../../poll.js';
import type { BoxCgroups } from '../cgroup/box-cgroups.js';
import { DriverError } from '../driver-error.js';
import { readUid, signal } from '../process-table.js';

const ENDED_WITHIN_MS = 5_000;

/**
 * Sends TERM to all processes of the container but its guest and their process 1, who have a user of their own, and waits
 * until they have ended.
 */
export const letEnd = async (cgroups: BoxCgroups, container: string, withinMs: number): Promise<void> => {
  const [first] = await cgroups.pids(container);
  const guest = first === undefined ? undefined : await readUid(first);
  const others = async (): Promise<readonly number[]> => {
    const pids = await cgroups.pids(container);
    const users = await Promise.all(pids.map(readUid));
    return pids.filter((_, index) => users[index] !== undefined && users[index] !== guest);
  };
  for (const pid of await others()) signal(pid, 'SIGTERM');
  await becomesTrue(async () => (await others()).length === 0, withinMs);
};

/**
 * The kernel ends every process of the container with its process 1. A frozen one dies when it is thawed. Errors:
 * `box_stuck`.
 */
export const killAll = async (cgroups: BoxCgroups, container: string): Promise<void> => {
  const dead = async (): Promise<boolean> => {
    const pids = await cgroups.pids(container);
    if (pids.length === 0) return true;
    for (const pid of pids) signal(pid, 'SIGKILL');
    await cgroups.setFrozen(container, false).catch(() => undefined);
    return false;
  };
  if (!(await becomesTrue(dead, ENDED_WITHIN_MS)))
    throw new DriverError('box_stuck', 'The processes of the agent could not be ended.');
};
