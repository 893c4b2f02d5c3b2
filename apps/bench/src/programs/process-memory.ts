import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { BenchError } from '../bench-error.js';

export interface ProcessMemory {
  readonly pid: number;
  readonly command: string;
  /** Its proportional share of memory if the system reports it (Linux), else all its resident memory. */
  readonly megabytes: number;
}

/** A process as listed by "ps". */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly residentKb: number;
  readonly command: string;
}

const KB_PER_MB = 1024;

/** The kind of the X server of a computer. */
export const X_SERVER = 'X server';
export const GUEST = 'guest';

const KINDS: readonly (readonly [string, RegExp])[] = [
  [X_SERVER, /^\S*Xvnc /],
  ['window manager', /^\S*openbox /],
  ['panel', /^\S*tint2 /],
  ['PostgreSQL', /postgres/],
  ['nats-server', /nats-server/],
  ['event log', /event-store\/main\.js/],
  [GUEST, /guest/],
  ['echo program', /agent\.mjs/],
];

/** What kind of process of a Berth it is; `root` is the process that was started. */
export const kindOf = ({ pid, command }: { pid: number; command: string }, root: number): string =>
  pid === root
    ? 'all services (one process)'
    : (KINDS.find(([, form]) => form.test(command))?.[0] ?? 'other');

/** The process and all its descendants. */
export const listTree = async (root: number): Promise<readonly ListedProcess[]> => {
  const listed = await listProcesses();
  const tree = listed.filter(({ pid }) => pid === root);
  for (const one of tree) tree.push(...listed.filter(({ parent }) => parent === one.pid));
  return tree;
};

/** The same processes with the memory of each. */
export const processTree = async (root: number): Promise<readonly ProcessMemory[]> =>
  Promise.all(
    (await listTree(root)).map(async ({ pid, residentKb, command }) => ({
      pid,
      command,
      megabytes: ((await shareKb(pid)) ?? residentKb) / KB_PER_MB,
    })),
  );

const listProcesses = async (): Promise<readonly ListedProcess[]> => {
  const args = ['-A', '-ww', '-o', 'pid=,ppid=,rss=,args='];
  const listing = promisify(execFile)('ps', args, { maxBuffer: 32 << 20 });
  const { stdout } = await listing.catch((cause: unknown) => {
    throw new BenchError('The memory of processes is read with "ps", which does not run here.', { cause });
  });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, rss, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), residentKb: Number(rss), command }];
  });
};

/** Pages shared by several processes (PostgreSQL's buffers, Node's own code) are divided among them. */
const shareKb = async (pid: number): Promise<number | undefined> => {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const [, share] = /^Pss:\s+(\d+) kB/m.exec(rollup) ?? [];
  return share === undefined ? undefined : Number(share);
};
