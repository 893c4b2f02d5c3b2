import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

/** The connections of a TLS server that are in their handshake, which Node does not count as its connections. */
export class TlsHandshakes {
  /** By the address of the client, the longest first. */
  readonly #running = new Map<string, Socket>();

  /** Beyond `most` at a time, the longest one is ended. */
  constructor(server: Server, most: number) {
    server.on('connection', (socket: Socket) => {
      const client = clientOf(socket);
      this.#running.set(client, socket);
      socket.once('close', () => {
        if (this.#running.get(client) === socket) this.#running.delete(client);
      });
      if (this.#running.size > most) this.#running.values().next().value?.destroy();
    });
    server.on('secureConnection', (socket: TLSSocket) => void this.#running.delete(clientOf(socket)));
  }

  /** Ends all of them. */
  end(): void {
    for (const socket of this.#running.values()) socket.destroy();
  }
}

const clientOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string =>
  `${remoteAddress} ${String(remotePort)}`;
