import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { socketIn, type LeaseLine, type SharedPart } from './lease.js';
import { ServerPool } from './server-pool.js';
import { startSharedEventLogs } from './shared-event-logs.js';
import { startSharedPostgres } from './shared-postgres.js';

/**
 * Holds the servers that the files of a run share, and leases them: one connection is one lease. Starts a server only
 * when a lease needs one and every running server of its kind has a lease.
 */
export class LeaseServer {
  readonly #listener: Server;
  readonly #leases = new Set<Socket>();
  readonly #pools: Readonly<Record<SharedPart, ServerPool>>;
  #loss: string | undefined;

  private constructor(folder: string) {
    const onLoss = (message: string): void => this.#lose(message);
    this.#pools = {
      eventStore: new ServerPool(() => startSharedEventLogs(folder, onLoss)),
      postgres: new ServerPool(() => startSharedPostgres(folder, onLoss)),
    };
    this.#listener = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** Listens on a socket in this folder and keeps the servers' data there. */
  static async start(folder: string): Promise<LeaseServer> {
    const server = new LeaseServer(folder);
    server.#listener.listen(socketIn(folder));
    await once(server.#listener, 'listening');
    return server;
  }

  /** Stops every server. Throws when one of them ended earlier. */
  async stop(): Promise<void> {
    const loss = this.#loss;
    this.#listener.close();
    for (const socket of this.#leases) socket.destroy();
    await Promise.all(Object.values(this.#pools).map((pool) => pool.stop()));
    if (loss !== undefined) throw new Error(loss);
  }

  #accept(socket: Socket): void {
    this.#leases.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#leases.delete(socket));
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.once('line', (parts) => {
      this.#serve(socket, JSON.parse(parts) as SharedPart[]).catch((error: unknown) =>
        this.#lose(error instanceof Error ? error.message : String(error)),
      );
    });
  }

  async #serve(socket: Socket, parts: readonly SharedPart[]): Promise<void> {
    if (this.#loss !== undefined) return send(socket, { kind: 'failed', message: this.#loss });
    const returned = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
    const taken = await Promise.all(
      parts.map(async (part) => [part, await this.#pools[part].take()] as const),
    );
    const urls = Object.fromEntries(taken.map(([part, { url }]) => [part, url]));
    send(socket, { kind: 'leased', urls });
    await returned;
    await Promise.all(taken.map(([, { release }]) => release()));
    socket.end();
  }

  /** The whole run fails: every present and later lease gets this message. */
  #lose(message: string): void {
    if (this.#loss !== undefined) return;
    this.#loss = message;
    for (const socket of this.#leases) send(socket, { kind: 'failed', message });
  }
}

const send = (socket: Socket, line: LeaseLine): void => void socket.write(`${JSON.stringify(line)}\n`);
