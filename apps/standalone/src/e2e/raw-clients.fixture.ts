import { connect, type Socket } from 'node:net';

/** Where a server listens: a TCP port on this machine, or a Unix socket. */
export type Listener = number | string;

const FLOOD = Buffer.alloc(65_536, 'flood ');
const FLOOD_CHUNKS = 16;

/** The behaviour of a client after it has sent its bytes. It never reads properly. */
export const BEHAVIOURS = {
  'resets immediately': (socket: Socket) => reset(socket),
  'resets at the response': (socket: Socket) => {
    socket.once('data', () => reset(socket));
    socket.resume();
  },
  closes: (socket: Socket) => void socket.destroy(),
  'half-closes': (socket: Socket) => {
    socket.end();
    socket.resume();
  },
  stalls: (socket: Socket) => void socket.resume(),
  'stops reading': (socket: Socket) => void socket.pause(),
  floods: (socket: Socket) => {
    for (let chunk = 0; chunk < FLOOD_CHUNKS && socket.writable; chunk++) socket.write(FLOOD);
    socket.resume();
  },
} as const;

export type Behaviour = keyof typeof BEHAVIOURS;

const reset = (socket: Socket): void => {
  // A Unix socket cannot be reset.
  if (socket.remotePort === undefined) socket.destroy();
  else socket.resetAndDestroy();
};

/** Clients on raw sockets. Those that stay connected never close their side. */
export class RawClients {
  readonly #open = new Set<Socket>();

  /** Connects, sends the bytes and starts the behaviour. Resolves once it has started; a refused connection is fine. */
  async attack(listener: Listener, bytes: string | Uint8Array, behaviour: Behaviour): Promise<void> {
    const socket =
      typeof listener === 'number'
        ? connect({ port: listener, host: '127.0.0.1', allowHalfOpen: true })
        : connect({ path: listener, allowHalfOpen: true });
    this.#open.add(socket);
    const connected = Promise.withResolvers<void>();
    socket.once('connect', connected.resolve);
    socket.on('error', () => connected.resolve());
    socket.once('close', () => {
      this.#open.delete(socket);
      connected.resolve();
    });
    await connected.promise;
    if (socket.destroyed) return;
    if (bytes.length > 0) socket.write(bytes);
    BEHAVIOURS[behaviour](socket);
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
