import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * A port that the system has chosen, kept from others until the gateway listens on it: the agents of this process are told
 * the address of the gateway before it starts.
 */
export class ReservedPort {
  private constructor(
    readonly port: number,
    private readonly server: Server,
  ) {}

  static async open(): Promise<ReservedPort> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The system chose no port.');
    return new ReservedPort(address.port, server);
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}
