import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openSocketPath } from '@berth/sockets';
import type { XPoint } from '../input/x-input.js';
import type { VncPasswords } from './vnc-auth.js';

const CONNECT_WITHIN_MS = 5_000;
const RETRY_MS = 20;

/** The VNC server of a desktop. */
export interface VncServer {
  readonly vncSocket: string;
  readonly vncPasswords: VncPasswords;
  /** Where the pointer is if a button is down. */
  readonly pressedAt: () => Promise<XPoint | undefined>;
}

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
