import { once } from 'node:events';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';

/** A port that no other guest on the same loopback interface gives its program. */
export interface ReservedPort {
  readonly port: number;
  /** Any number of times. */
  release(): void;
}

const MOST_ATTEMPTS = 100;

/**
 * Reserves a TCP port of the loopback interface that is currently free. A program binds its port only some time after its
 * start; if another agent's program had the same one, the guest would take that program for its own. Guests that share a
 * network namespace share abstract sockets too, of which one can have a name; systems without them reserve nothing.
 */
export const reservePort = async (candidate: () => Promise<number> = freePort): Promise<ReservedPort> => {
  for (let attempt = 1; ; attempt++) {
    const port = await candidate();
    // Another program can take names without end.
    if (process.platform !== 'linux' || attempt > MOST_ATTEMPTS) return { port, release: () => undefined };
    const holder = await listening({ path: `\0berth-port-${port}`, exclusive: true });
    if (holder !== undefined) return { port, release: () => void holder.close() };
  }
};

/** A TCP port on the loopback interface that is currently free. */
export const freePort = async (): Promise<number> => {
  const server = await listening({ host: '127.0.0.1', port: 0 });
  if (server === undefined) throw new Error('no port is free');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** undefined: another process listens there. */
const listening = async (where: ListenOptions): Promise<Server | undefined> => {
  const server = createServer((socket) => socket.destroy()).listen(where);
  server.unref();
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
};
