import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openSocketPath } from '@berth/sockets';
import type { Point } from '@berth/contracts/computers/plan';
import { ByteReader } from './byte-reader.js';
import { joinServer } from './rfb-handshake.js';
import type { VncPasswords } from './vnc-auth.js';

const CONNECT_WITHIN_MS = 5_000;
const RETRY_MS = 20;

/** The VNC server of a desktop. */
export interface VncServer {
  readonly vncSocket: string;
  readonly vncPasswords: VncPasswords;
  /** Where the pointer is if a button is down. */
  readonly pressedAt: () => Promise<Point | undefined>;
}

const SERVER_INIT_BYTES = 24;
const UPDATE_OF_ONE_PIXEL = Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 0, 1]);

/** A connection of the guest itself to the VNC server of a desktop. */
export interface VncConnection {
  /** Of messages of a client. */
  readonly send: (messages: Buffer) => void;
  /** Resolves when the server has carried out what was sent; rejects when the connection is closed. */
  readonly done: () => Promise<void>;
  readonly close: () => void;
}

/** Undefined if nothing listens. Rejects if the server refuses it or is silent. */
export const joinVnc = async (path: string, password: Buffer): Promise<VncConnection | undefined> => {
  const server = await dialVnc(path);
  if (server === undefined) return undefined;
  const from = new ByteReader();
  const late = setTimeout(() => server.destroy(), CONNECT_WITHIN_MS);
  server.on('data', (chunk: Buffer) => from.push(chunk));
  server.on('error', () => undefined);
  server.on('close', () => {
    clearTimeout(late);
    from.fail(new Error('The VNC server has closed the connection.'));
  });
  const send = (bytes: Buffer): void => void server.write(bytes);
  await joinServer({ from, send }, password);
  const name = (await from.read(SERVER_INIT_BYTES)).readUInt32BE(SERVER_INIT_BYTES - 4);
  await from.read(name);
  return {
    send,
    done: async () => {
      send(UPDATE_OF_ONE_PIXEL);
      await from.read(1);
    },
    close: () => void server.destroy(),
  };
};

/** Undefined if nothing listens. */
export const dialVnc = async (path: string): Promise<Socket | undefined> => {
  const place = await openSocketPath(path);
  const late = AbortSignal.timeout(CONNECT_WITHIN_MS);
  try {
    for (;;) {
      const server = connect({ path: place.path });
      try {
        await once(server, 'connect', { signal: late });
        return server;
      } catch (error) {
        server.on('error', () => undefined).destroy();
        if (!isCrowded(error)) return undefined;
      }
      await delay(RETRY_MS);
    }
  } finally {
    await place.release();
  }
};

/** As many connections as the VNC server lets wait, few, wait to be accepted. */
const isCrowded = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';
