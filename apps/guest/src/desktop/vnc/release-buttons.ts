import { joinVnc, type VncServer } from './vnc-server.js';

const POINTER_EVENT = 5;

/**
 * Lets the mouse buttons go that a client held when its connection ended: the VNC server leaves them down, and only its clients
 * can release them. Those that actions or another client hold stay. Never throws.
 */
export const releaseButtons = (desktop: VncServer): Promise<void> => release(desktop).catch(() => undefined);

const release = async ({ vncSocket, vncPasswords, pressedAt }: VncServer): Promise<void> => {
  const at = await pressedAt();
  if (at === undefined) return;
  const connection = await joinVnc(vncSocket, vncPasswords.control);
  if (connection === undefined) return;
  const event = Buffer.from([POINTER_EVENT, 0, 0, 0, 0, 0]);
  event.writeUInt16BE(at.x, 2);
  event.writeUInt16BE(at.y, 4);
  connection.send(event);
  await connection.done().finally(connection.close);
};
