import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const LOCAL_ADDRESS = 1;
const REMOTE_ADDRESS = 2;
const UID = 7;

/** Formats `127.0.0.1:2113` like /proc/net/tcp: the bytes of the address in the machine's byte order, then the port. */
const procForm = (address: string, port: number): string => {
  const hex = (value: number, width: number): string => value.toString(16).toUpperCase().padStart(width, '0');
  const bytes = address.split('.').map((part) => hex(Number(part), 2));
  return `${bytes.reverse().join('')}:${hex(port, 4)}`;
};

/**
 * The user of the other end of a loopback connection, from the text of /proc/net/tcp; null if the connection is not
 * listed.
 */
export const findPeerUid = (table: string, client: string, server: string): number | null => {
  for (const line of table.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[LOCAL_ADDRESS] === client && fields[REMOTE_ADDRESS] === server) return Number(fields[UID]);
  }
  return null;
};

/**
 * Whether the other end of a loopback connection belongs to this user or to root. The client sends no credentials over
 * an unencrypted connection, and on a machine where agents have users of their own they must not be able to read the
 * log. Without /proc/net/tcp, every user on the machine is accepted.
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
