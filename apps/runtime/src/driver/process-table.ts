import { readFile } from 'node:fs/promises';

export { listPids } from '@berth/host-requirements';

/** A process; its start time distinguishes it from a later process with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; differs between processes, even across reboots. */
  readonly startedAt: string;
}

export interface ProcessEntry extends ProcessIdentity {
  /** One letter of proc(5): R, S, D, T, t, I … */
  readonly state: string;
}

/** Fields of proc(5) from the third on: the command name before them may itself contain spaces and parentheses. */
const statFields = (stat: string): readonly string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');

let bootId: Promise<string> | undefined;

/** The process with that id; undefined if there is none or it is a zombie. */
export const readProcess = async (pid: number): Promise<ProcessEntry | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = statFields(stat);
  const [state, ticks] = [fields[0], fields[19]];
  if (state === undefined || ticks === undefined || 'ZXx'.includes(state)) return undefined;
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return { pid, state, startedAt: `${(await bootId).trim()}:${ticks}` };
};

/** The resources that a process uses. */
export interface ProcessUsage {
  /** Resident memory in bytes. */
  readonly memoryBytes: number;
  /** Processor time of the process and of its children that have been waited for. */
  readonly cpuSeconds: number;
  readonly threads: number;
}

/** Linux reports processor times in hundredths of a second, regardless of the kernel's own clock. */
const TICKS_PER_SECOND = 100;

/** Returns the resources that the process uses; undefined if it does not exist or is a zombie. */
export const readUsage = async (pid: number): Promise<ProcessUsage | undefined> => {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
  ]);
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  if (stat === '' || kilobytes === undefined) return undefined;
  const fields = statFields(stat);
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return {
    memoryBytes: Number(kilobytes) * 1024,
    cpuSeconds: ticks / TICKS_PER_SECOND,
    threads: Number(fields[17]),
  };
};

/** Bytes that processes, and their children that have been waited for, have written to disks; null without processes. */
export const writtenBytes = async (pids: readonly number[]): Promise<number | null> => {
  const figures = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, 'utf8').catch(() => '')));
  const written = figures.flatMap((text) => /^write_bytes: (\d+)/m.exec(text)?.[1] ?? []);
  return written.length === 0 ? null : written.reduce((sum, bytes) => sum + Number(bytes), 0);
};

/** Whether exactly that process is still running. */
export const isAlive = async ({ pid, startedAt }: ProcessIdentity): Promise<boolean> =>
  (await readProcess(pid))?.startedAt === startedAt;

/** The value of a variable in a process's initial environment; undefined if it is not set or not readable. */
export const readStartVariable = async (pid: number, name: string): Promise<string | undefined> => {
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  const found = environ.split('\0').find((entry) => entry.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
};

/** The user id of a process. */
export const readUid = async (pid: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return uid === undefined ? undefined : Number(uid);
};

/** Sends a signal; ignores a process that has already exited. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};
