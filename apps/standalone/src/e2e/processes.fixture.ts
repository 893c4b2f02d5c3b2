import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The embedded parts, by the names of their pid files. */
export type PartName = 'nats' | 'event-store' | 'postgres';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const workingFolder = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`);
  } catch {
    return '';
  }
};

const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Fields of proc(5)'s `stat` after the command's name: state, parent, … A zombie counts as ended. */
const statOf = (pid: number): string[] => {
  const stat = read(`/proc/${String(pid)}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' || fields[0] === 'Z' ? [] : fields;
};

/** Where `statOf` has the start time, in clock ticks since boot. */
const STARTED_AT = 19;

const isAlive = (pid: number): boolean => statOf(pid).length > 0;

/** The process and all its descendants. */
export const treeOf = (root: number): number[] => {
  const parents = pids().map((pid) => [pid, Number(statOf(pid)[1])] as const);
  const found = [root];
  for (const known of found)
    found.push(...parents.filter(([, parent]) => parent === known).map(([pid]) => pid));
  return found.filter(isAlive);
};

/** The process that currently runs an embedded part of the data folder; undefined if there is none. */
export const pidOfPart = (dataDir: string, part: PartName): number | undefined => {
  const file = read(join(dataDir, 'embedded', `${part}.pid.json`));
  if (file === '') return undefined;
  const { pid } = JSON.parse(file) as { pid: number };
  return isAlive(pid) ? pid : undefined;
};

/** Like `pidOfPart`, but throws if there is none. */
export const runningPart = (dataDir: string, part: PartName): number => {
  const pid = pidOfPart(dataDir, part);
  if (pid === undefined) throw new Error(`${part} is not running.`);
  return pid;
};

/** The process group of a process, from /proc. */
export const processGroupOf = (pid: number): number =>
  Number(
    read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[2],
  );

/** Sends a signal to all of them; ignores those that are already gone. */
export const signalAll = (targets: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of targets) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
};

/** The name that the runtime of a data folder gives its control groups and marks its processes with. */
const instanceOf = (dataDir: string): string => {
  const folder = join(dataDir, 'runtime');
  if (!existsSync(folder)) return 'no runtime has used this data folder';
  return createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 12);
};

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Every process that belongs to the data folder: the program, its parts, its agents and what they started. */
export const processesOf = (dataDir: string): FoundProcess[] =>
  processesNaming([dataDir, instanceOf(dataDir)]);

/** Every other process whose command, variables, control group or folder has one of the marks. */
export const processesNaming = (marks: readonly string[]): FoundProcess[] =>
  pids().flatMap((pid) => {
    const files = ['cmdline', 'environ', 'cgroup'].map((name) => read(`/proc/${String(pid)}/${name}`));
    files.push(workingFolder(pid));
    if (
      pid === process.pid ||
      !isAlive(pid) ||
      !marks.some((mark) => files.some((file) => file.includes(mark)))
    )
      return [];
    return [{ pid, command: (files[0] ?? '').replaceAll('\0', ' ').trim() }];
  });

const variablesOf = (pid: number): string[] => read(`/proc/${String(pid)}/environ`).split('\0');

/**
 * The agent's own program; undefined if there is none. It is the oldest process with the agent's variables: commands have
 * them too, and process ids say nothing about age.
 */
export const programOf = (agentId: string): number | undefined =>
  pids()
    .filter((pid) => variablesOf(pid).includes(`BERTH_AGENT_ID=${agentId}`))
    .map((pid) => ({ pid, startedAt: Number(statOf(pid)[STARTED_AT]) }))
    .filter(({ startedAt }) => !Number.isNaN(startedAt))
    .sort((one, other) => one.startedAt - other.startedAt || one.pid - other.pid)[0]?.pid;

/** The guest that supervises the agent. */
export const guestOf = (agentId: string): number | undefined => {
  const marked = pids().filter((pid) => isAlive(pid) && isGuest(variablesOf(pid), agentId));
  // A child of the guest that has not called exec yet still has the guest's environment, and possibly a lower id.
  return marked.find((pid) => !marked.includes(Number(statOf(pid)[1])));
};

const isGuest = (variables: readonly string[], agentId: string): boolean =>
  variables.some((entry) => entry.startsWith('BERTH_AGENT_MARK=') && entry.endsWith(`/${agentId}`)) &&
  !variables.some((entry) => entry.startsWith('BERTH_AGENT_ID='));
