import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const LOCAL_ADDRESS = 1;
const REMOTE_ADDRESS = 2;
const UID = 7;

/** `127.0.0.1:2113` as /proc/net/tcp writes it: the address' bytes in the machine's order, then the port. */
const procForm = (address: string, port: number): string => {
  const hex = (value: number, width: number): string => value.toString(16).toUpperCase().padStart(width, '0');
  const bytes = address.split('.').map((part) => hex(Number(part), 2));
  return `${bytes.reverse().join('')}:${hex(port, 4)}`;
};

/** The user behind the other end of a loopback connection, from the text of /proc/net/tcp; null when it is not there. */
export const findPeerUid = (table: string, client: string, server: string): number | null => {
  for (const line of table.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[LOCAL_ADDRESS] === client && fields[REMOTE_ADDRESS] === server) return Number(fields[UID]);
  }
  return null;
};

/**
 * Whether the other end of a loopback connection belongs to this user or to root. The client sends no credentials
 * over an unencrypted line, and on a machine where agents run as users of their own the log must not be theirs to
 * read. Where there is no /proc/net/tcp, everybody on the machine is let in.
 */
export const isOwnPeer = (socket: Socket): boolean => {
  const own = process.getuid?.();
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined) return false;
  const table = readTable();
  if (own === undefined || table === null) return true;
  const uid = findPeerUid(table, procForm(remoteAddress, remotePort), procForm(localAddress, localPort ?? 0));
  return uid === own || uid === 0;
};

const readTable = (): string | null => {
  try {
    return readFileSync('/proc/net/tcp', 'utf8');
  } catch {
    return null;
  }
};
