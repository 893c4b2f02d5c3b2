import { readdirSync, readFileSync } from 'node:fs';

/** A process; its start time distinguishes it from a later process with the same number. */
export interface ProcessEntry {
  readonly pid: number;
  /** One letter; `Z` and `X` have exited. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In kernel clock ticks since boot. */
  readonly started: number;
}

// Fields of /proc/<pid>/stat after the name, which is in parentheses and may contain any character.
const STATE = 0;
const PARENT = 1;
const GROUP = 2;
const SESSION = 3;
const STARTED = 19;

/** Undefined if there is no such process. */
export const readProcess = (pid: number): ProcessEntry | undefined => {
  const text = readOrUndefined(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[STATE] ?? 'X',
    parent: Number(fields[PARENT]),
    group: Number(fields[GROUP]),
    session: Number(fields[SESSION]),
    started: Number(fields[STARTED]),
  };
};

/** All visible processes that have not exited. */
export const readProcesses = (): ProcessEntry[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
    .filter(isAlive);

export const isAlive = ({ state }: ProcessEntry): boolean => state !== 'Z' && state !== 'X';

/** Whether the process was started with one of these settings (`NAME=value`) in its environment. */
export const hasSetting = (pid: number, settings: readonly string[]): boolean => {
  const environment = readOrUndefined(`/proc/${pid}/environ`);
  if (environment === undefined) return false;
  return settings.some(
    (setting) =>
      environment.includes(`\0${setting}\0`) ||
      environment.subarray(0, Buffer.byteLength(setting) + 1).equals(Buffer.from(`${setting}\0`)),
  );
};

/** Signals exactly that process, and not a later one with its number. */
export const signalProcess = ({ pid, started }: ProcessEntry, signal: NodeJS.Signals): void => {
  if (readProcess(pid)?.started !== started) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just exited.
  }
};

const readOrUndefined = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};
