import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { treeOf } from './processes.fixture.js';

const LISTENING = '0A';

const linksOf = (pid: number): string[] =>
  readdirSync(`/proc/${String(pid)}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${String(pid)}/fd/${fd}`)];
    } catch {
      // Closed between the two calls.
      return [];
    }
  });

/** Number of the process's file descriptors. */
export const descriptorsOf = (pid: number): number => linksOf(pid).length;

/** Resident memory in bytes. */
export const memoryOf = (pid: number): number => {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024;
};

/** Number of the process's descendants. */
export const childrenOf = (pid: number): number => treeOf(pid).length - 1;

/** The process's TCP sockets: local port and state, as proc(5) writes them. */
const socketsOf = (pid: number): { readonly port: number; readonly state: string }[] => {
  const own = new Set(linksOf(pid).map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const rows = readFileSync(`/proc/${String(pid)}/net/tcp`, 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return rows.flatMap((row) => {
    const fields = row.trim().split(/\s+/);
    const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
    return own.has(fields[9]) ? [{ port, state: fields[3] ?? '' }] : [];
  });
};

/** Number of accepted connections for each port that the process listens on. */
export const connectionsOf = (pid: number): Readonly<Record<number, number>> => {
  const sockets = socketsOf(pid);
  const counts: Record<number, number> = {};
  for (const { port, state } of sockets) if (state === LISTENING) counts[port] = 0;
  for (const { port, state } of sockets) {
    const count = counts[port];
    if (state !== LISTENING && count !== undefined) counts[port] = count + 1;
  }
  return counts;
};

/** The TCP port that the process listens on. */
export const listeningPortOf = (pid: number): number => {
  const port = socketsOf(pid).find(({ state }) => state === LISTENING)?.port;
  if (port === undefined) throw new Error(`Process ${String(pid)} does not listen on any port.`);
  return port;
};

/** A variable of the process's environment. */
export const variableOf = (pid: number, name: string): string => {
  const entries = readFileSync(`/proc/${String(pid)}/environ`, 'utf8').split('\0');
  const found = entries.find((entry) => entry.startsWith(`${name}=`));
  if (found === undefined) throw new Error(`Process ${String(pid)} has no ${name}.`);
  return found.slice(name.length + 1);
};
