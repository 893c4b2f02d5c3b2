import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import { listTree, processTree } from '../programs/process-memory.js';

/** What runs on the host of this run, which has processes and mounts of its own. */
export interface HostUse {
  /** Proportional shares of all processes together. */
  readonly megabytes: number;
  readonly processes: number;
  readonly mounts: number;
}

/** The first process of the namespace, whose descendants are all others. */
const FIRST_PID = 1;

/** How long the same processes must run until nothing that came before goes on. */
const QUIET_MS = 4_000;
const QUIET_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 500;

/** What runs once no process has come or gone for a while. */
export const settledUse = async (): Promise<HostUse> => {
  const giveUpAt = performance.now() + QUIET_WITHIN_MS;
  let [pids, since] = ['', performance.now()];
  while (performance.now() < giveUpAt) {
    const now = await runningPids();
    if (now !== pids) [pids, since] = [now, performance.now()];
    else if (performance.now() - since > QUIET_MS) return hostUse();
    await sleep(LOOK_EVERY_MS);
  }
  throw new BenchError(`Processes came and went for ${QUIET_WITHIN_MS / 1000} s.`);
};

/** Neither the program that lists them nor what has ended and that nothing waits for. */
const counts = ({ command }: { readonly command: string }): boolean =>
  !command.startsWith('ps ') && !command.endsWith('<defunct>');

const runningPids = async (): Promise<string> =>
  (await listTree(FIRST_PID))
    .filter(counts)
    .map(({ pid }) => pid)
    .join(' ');

const hostUse = async (): Promise<HostUse> => {
  const processes = (await processTree(FIRST_PID)).filter(counts);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return {
    megabytes: processes.reduce((sum, { megabytes }) => sum + megabytes, 0),
    processes: processes.length,
    mounts: mounts.trim().split('\n').length,
  };
};

/** What each of `count` agents has added. */
export const useOfEach = (before: HostUse, now: HostUse, count: number): HostUse => ({
  megabytes: (now.megabytes - before.megabytes) / count,
  processes: (now.processes - before.processes) / count,
  mounts: (now.mounts - before.mounts) / count,
});
