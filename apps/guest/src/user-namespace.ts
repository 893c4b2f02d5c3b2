import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** How the guest creates the user namespace of an agent that is root inside. */
export interface NamespaceSettings {
  /** A symbolic link to the namespace, for launchers. */
  readonly link: string;
  /** A program that creates a user namespace, writes a line and holds the namespace until its input ends. */
  readonly holder: string;
}

const MAP_LINE = /^\s*0\s+\d+\s+(\d+)\s*$/;

/**
 * Creates a user namespace that maps each id of this one to itself, but not the id of this process: what is root there
 * has no right over this process and its files. It exists as long as this process does. Throws if the kernel refuses.
 */
export const createUserNamespace = async (settings: NamespaceSettings): Promise<void> => {
  const { link } = settings;
  const holder = spawn(settings.holder, [], { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  const ended = once(holder, 'exit');
  await Promise.race([once(holder.stdout as Readable, 'data'), ended]);
  const { pid, exitCode } = holder;
  if (pid === undefined || exitCode !== null) throw new Error('The user namespace could not be created.');
  for (const [kind, id] of [
    ['uid_map', process.getuid?.() ?? 0],
    ['gid_map', process.getgid?.() ?? 0],
  ] as const)
    writeFileSync(`/proc/${pid}/${kind}`, mapWithout(id, readFileSync(`/proc/self/${kind}`, 'utf8')));
  const descriptor = openSync(`/proc/${pid}/ns/user`, 'r');
  rmSync(link, { force: true });
  symlinkSync(`/proc/${process.pid}/fd/${descriptor}`, link);
  holder.stdin?.end();
  await ended;
};

/** `own`: the map of this namespace, which begins with 0 and has one line. */
export const mapWithout = (id: number, own: string): string => {
  const size = Number(MAP_LINE.exec(own)?.[1]);
  if (!Number.isInteger(size) || id >= size) throw new Error('The user namespace has unexpected ids.');
  const behind = size - id - 1;
  return `0 0 ${id}\n${behind > 0 ? `${id + 1} ${id + 1} ${behind}\n` : ''}`;
};
