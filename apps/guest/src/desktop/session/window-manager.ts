import { setTimeout as delay } from 'node:timers/promises';
import { internAtom, type XConnection } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';

const LOOK_MS = 10;
/** A desktop is usable without its window manager, which is started again when it ends. */
const MOST_MS = 5_000;

/** Resolves when a window manager has taken the display, after 5 s at the latest. */
export const untilManaged = async (connection: XConnection): Promise<void> => {
  const sign = await internAtom(connection, '_NET_SUPPORTING_WM_CHECK');
  const { root } = connection.setup;
  const any = 0;
  const lateAt = performance.now() + MOST_MS;
  while (performance.now() < lateAt) {
    const reply = await connection.ask(packRequest(20, 0, u32(root, sign, any, 0, 1)));
    if (reply.readUInt32LE(16) > 0) return;
    await delay(LOOK_MS);
  }
};
