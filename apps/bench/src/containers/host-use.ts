import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import { listTree, processTree, type ProcessMemory } from '../programs/process-memory.js';

/** What runs on the host of this run, which has processes and mounts of its own. */
export interface HostUse {
  /** Proportional shares of these processes together. */
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

/**
 * What runs besides Berth once no process has come or gone for a while. `berth` is its first process: the memory of its
 * services and parts goes up and down by more than an agent takes.
 */
export const settledUse = async (berth: number): Promise<HostUse> => {
  const giveUpAt = performance.now() + QUIET_WITHIN_MS;
  let [pids, since] = ['', performance.now()];
  while (performance.now() < giveUpAt) {
    const others = await othersThan(berth);
    const now = others.map(({ pid }) => pid).join(' ');
    if (now !== pids) [pids, since] = [now, performance.now()];
    else if (performance.now() - since > QUIET_MS) return useOf(others);
    await sleep(LOOK_EVERY_MS);
  }
  throw new BenchError(`Processes came and went for ${QUIET_WITHIN_MS / 1000} s.`);
};

/** Without the program that lists them, and what has ended and nothing waits for. */
const othersThan = async (berth: number): Promise<readonly ProcessMemory[]> => {
  const own = new Set((await listTree(berth)).map(({ pid }) => pid));
  return (await processTree(FIRST_PID)).filter(
    ({ pid, command }) => !own.has(pid) && !command.startsWith('ps ') && !command.endsWith('<defunct>'),
  );
};

const useOf = async (processes: readonly ProcessMemory[]): Promise<HostUse> => {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return {
    megabytes: processes.reduce((sum, { megabytes }) => sum + megabytes, 0),
    processes: processes.length,
    mounts: mounts.trim().split('\n').length,
  };
};

/** The increase for each of `count` agents. */
export const useOfEach = (before: HostUse, now: HostUse, count: number): HostUse => ({
  megabytes: (now.megabytes - before.megabytes) / count,
  processes: (now.processes - before.processes) / count,
  mounts: (now.mounts - before.mounts) / count,
});
