import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a process even after its id was reused: `startedAt` is opaque and differs then. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The identity of a running process; undefined if there is none (a zombie counts as none). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : portableStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether exactly that process still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name, in parentheses, may itself contain blanks and parentheses, so fields are counted after its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === undefined || 'ZXx'.includes(state) || startTicks === undefined) return undefined;
    return `${bootId()}:${startTicks}`;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  // Ticks count from the boot, so after a reboot another process could have the same pid and ticks.
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function portableStart(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state, ...started] = line.split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}
