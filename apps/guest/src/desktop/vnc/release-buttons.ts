import type { Socket } from 'node:net';
import type { XPoint } from '../input/x-input.js';
import { ByteReader } from './byte-reader.js';
import { joinServer } from './rfb-handshake.js';
import { dialVnc, type VncServer } from './vnc-server.js';

const RELEASE_WITHIN_MS = 2_000;
const SERVER_INIT_BYTES = 24;
const POINTER_EVENT = 5;

/**
 * Lets the mouse buttons go that a client held when its connection ended: the VNC server leaves them down, and only its clients
 * can release them. Those that actions or another client hold stay. Never throws.
 */
export const releaseButtons = async ({ vncSocket, vncPasswords, pressedAt }: VncServer): Promise<void> => {
  const at = await pressedAt().catch(() => undefined);
  const server = at && (await dialVnc(vncSocket));
  if (server === undefined) return;
  const late = setTimeout(() => server.destroy(), RELEASE_WITHIN_MS);
  await release(server, vncPasswords.control, at as XPoint).catch(() => undefined);
  clearTimeout(late);
  server.destroy();
};

const release = async (server: Socket, password: Buffer, { x, y }: XPoint): Promise<void> => {
  const from = new ByteReader();
  server.on('data', (chunk: Buffer) => from.push(chunk));
  server.on('error', () => undefined);
  server.on('close', () => from.fail(new Error('The VNC server has closed the connection.')));
  await joinServer({ from, send: (bytes) => server.write(bytes) }, password);
  const name = (await from.read(SERVER_INIT_BYTES)).readUInt32BE(SERVER_INIT_BYTES - 4);
  await from.read(name);
  const event = Buffer.from([POINTER_EVENT, 0, 0, 0, 0, 0]);
  event.writeUInt16BE(x, 2);
  event.writeUInt16BE(y, 4);
  // An update of one pixel, which is sent behind the event.
  server.write(Buffer.concat([event, Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 0, 1])]));
  await from.read(1);
};
