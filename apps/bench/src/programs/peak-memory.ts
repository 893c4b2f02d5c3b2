import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { kindOf, listTree } from './process-memory.js';

/** The growth of the process that grew most of its kind. */
export interface Growth {
  readonly kind: string;
  readonly mebibytes: number;
}

const KB_PER_MIB = 1024;
const SAMPLE_EVERY_MS = 100;
/** proc(5): resets the recorded peak resident size to the current one. */
const RESET_PEAK = '5';

/**
 * The peak growth of the resident memory of each process below `root` during `work`, relative to its size before. Linux
 * records the peak itself; elsewhere memory is sampled ten times a second. A process that started during `work`
 * belongs to the work and not to Berth.
 */
export const growthDuring = async (
  root: number,
  work: () => Promise<unknown>,
): Promise<readonly Growth[]> => {
  const processes = await listTree(root);
  const pids = processes.map(({ pid }) => pid);
  const resets = await Promise.all(pids.map(resetPeak));
  const peaks = await (resets.every(Boolean) ? countedPeaks(pids, work) : sampledPeaks(root, work));
  const grown = new Map<string, number>();
  for (const one of processes) {
    const kind = kindOf(one, root);
    grown.set(kind, Math.max(grown.get(kind) ?? 0, (peaks.get(one.pid) ?? 0) / KB_PER_MIB));
  }
  return [...grown].map(([kind, mebibytes]) => ({ kind, mebibytes }));
};

/** Growth in kB by process id. */
type Peaks = ReadonlyMap<number, number>;

/** Returns false if the system does not support it; a process that has just ended has no relevant peak. */
const resetPeak = (pid: number): Promise<boolean> =>
  writeFile(`/proc/${pid}/clear_refs`, RESET_PEAK).then(
    () => true,
    () => existsSync('/proc/self/clear_refs') && !existsSync(`/proc/${pid}`),
  );

const countedPeaks = async (pids: readonly number[], work: () => Promise<unknown>): Promise<Peaks> => {
  const before = await Promise.all(pids.map((pid) => statusKb(pid, 'VmRSS')));
  await work();
  const after = await Promise.all(pids.map((pid) => statusKb(pid, 'VmHWM')));
  return new Map(pids.map((pid, index) => [pid, Math.max(0, (after[index] ?? 0) - (before[index] ?? 0))]));
};

/** 0 for a process that has ended. */
const statusKb = async (pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
};

const sampledPeaks = async (root: number, work: () => Promise<unknown>): Promise<Peaks> => {
  const before = new Map((await listTree(root)).map(({ pid, residentKb }) => [pid, residentKb]));
  const peaks = new Map<number, number>();
  const sample = async (): Promise<void> => {
    for (const { pid, residentKb } of await listTree(root))
      peaks.set(pid, Math.max(peaks.get(pid) ?? 0, residentKb - (before.get(pid) ?? residentKb)));
  };
  // The next sample makes up for one that fails or is late.
  const timer = setInterval(() => void sample().catch(() => undefined), SAMPLE_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  await sample();
  return peaks;
};
