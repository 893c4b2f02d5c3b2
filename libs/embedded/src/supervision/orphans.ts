import { rmSync } from 'node:fs';
import { readJsonObject, writePrivateFile } from '@berth/host-requirements';
import { becomesTrue } from './poll.js';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.js';

/** One step of ending a process: the signal, and how long to wait, in milliseconds. */
export interface EndingStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** Records which process runs a part, so that a later start can find it. */
export function recordPid(file: string, pid: number): void {
  const identity = identifyProcess(pid);
  if (identity) writePrivateFile(file, JSON.stringify(identity));
}

/** Removes the record. */
export function forgetPid(file: string): void {
  rmSync(file, { force: true });
}

/**
 * Ends the process that an earlier run left behind, if it is still that process, and returns its id. An unrelated
 * process that got the same id is left alone. Throws when the orphan survives even SIGKILL.
 */
export async function reclaimOrphan(file: string, steps: readonly EndingStep[]): Promise<number | undefined> {
  const noted = readJsonObject(file);
  const orphan: ProcessIdentity = { pid: Number(noted?.['pid']), startedAt: String(noted?.['startedAt']) };
  if (noted === undefined || !isAlive(orphan)) {
    forgetPid(file);
    return undefined;
  }
  await endProcess(orphan, steps);
  forgetPid(file);
  return orphan.pid;
}

/** Ends a process by the given steps and finally by SIGKILL; throws when it still runs 5 s after that. */
export async function endProcess(target: ProcessIdentity, steps: readonly EndingStep[]): Promise<void> {
  const last: EndingStep = { signal: 'SIGKILL', waitMs: 5000 };
  for (const { signal, waitMs } of [...steps, last]) {
    if (!isAlive(target)) return;
    signalQuietly(target.pid, signal);
    // A stopped process handles no other signal before this one.
    signalQuietly(target.pid, 'SIGCONT');
    if (await becomesTrue(() => !isAlive(target), waitMs)) return;
  }
  throw new Error(`Process ${target.pid} of an earlier run cannot be ended. End it, then start again.`);
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // ESRCH: it ended between the check and the signal, which is the intended result.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
