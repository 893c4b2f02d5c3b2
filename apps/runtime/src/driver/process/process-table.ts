import { readdir, readFile } from 'node:fs/promises';

/** A process, told apart from a later one with the same id by when it began. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; differs between processes, across reboots too. */
  readonly startedAt: string;
}

export interface ProcessEntry extends ProcessIdentity {
  /** One letter of proc(5): R, S, D, T, t, I … */
  readonly state: string;
}

let bootId: Promise<string> | undefined;

/** The process with that id; undefined where there is none, a zombie counting as none. */
export const readProcess = async (pid: number): Promise<ProcessEntry | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The command's name, in parentheses, may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (state === undefined || ticks === undefined || 'ZXx'.includes(state)) return undefined;
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return { pid, state, startedAt: `${(await bootId).trim()}:${ticks}` };
};

/** Whether that very process still runs. */
export const isAlive = async ({ pid, startedAt }: ProcessIdentity): Promise<boolean> =>
  (await readProcess(pid))?.startedAt === startedAt;

/** Ids of all processes of the host. */
export const listPids = async (): Promise<readonly number[]> =>
  (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);

/** The value of a variable that a process was started with; undefined without it, or when it may not be read. */
export const readStartVariable = async (pid: number, name: string): Promise<string | undefined> => {
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  const found = environ.split('\0').find((entry) => entry.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
};

/** The user a process runs as. */
export const readUid = async (pid: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return uid === undefined ? undefined : Number(uid);
};

/** Sends a signal; a process that is gone already is fine. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};
