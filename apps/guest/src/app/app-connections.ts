import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { detach, DomainError } from '@berth/kernel';
import { joinSockets } from '@berth/sockets';
import type { Endpoint } from '../program/readiness.js';
import type { UpgradeRoute } from '../server/stream-route.js';

/** Leaves enough of the guest's own connections for messages, commands and files. */
const MAX_CONNECTIONS = 512;
/** How long to wait for a program that is starting again, e.g. after a crash. */
const ENDPOINT_WITHIN_MS = 5_000;
/** A program on the same machine accepts at once, unless its queue is full. */
const CONNECT_WITHIN_MS = 3_000;
/** The kernel closes the port of a program that dies a moment before the guest learns of the death. */
const DEATH_SEEN_MS = 100;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** Returns where the program serves, a new object for each start; waits up to that long for one that is starting. */
export type FindEndpoint = (withinMs: number) => Promise<Endpoint | undefined>;

/** Connections from outside to the HTTP server of the agent's program. */
export class AppConnections {
  readonly #open = new Set<Duplex>();

  constructor(private readonly findEndpoint: FindEndpoint) {}

  /**
   * Connects a socket whose request asked for it to the program, and returns once both are connected. Errors: upstream
   * `app_unreachable`, exhausted `too_many_app_connections`.
   */
  async open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#open.size >= MAX_CONNECTIONS) throw tooMany();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    const program = await this.#dial().catch((error: unknown) => {
      this.#open.delete(socket);
      throw error;
    });
    const protocol = request.headers.upgrade ?? '';
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n`);
    if (head.length > 0) program.write(head);
    detach(joinSockets(socket, program));
  }

  /** Closes all connections. */
  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async #dial(): Promise<Socket> {
    const deadline = performance.now() + ENDPOINT_WITHIN_MS;
    const left = (): number => Math.max(0, deadline - performance.now());
    let endpoint = await this.findEndpoint(left());
    while (endpoint !== undefined && left() > 0) {
      const program = await dialEither(endpoint);
      if (program !== undefined) return program;
      await delay(DEATH_SEEN_MS);
      const refused = endpoint;
      endpoint = await this.findEndpoint(left());
      if (endpoint === refused) break;
    }
    throw unreachable();
  }
}

/** A route that upgrades to a connection with the agent's program. */
export const appRoutes = (apps: AppConnections): readonly UpgradeRoute[] => [
  { ...GUEST_ROUTES.app, upgrade: (request, socket, head) => apps.open(request, socket, head) },
];

/** The program may have closed the address that it was found at, and listen on the other one. */
const dialEither = async ({ host, port }: Endpoint): Promise<Socket | undefined> => {
  for (const address of [host, ...LOOPBACK.filter((other) => other !== host)]) {
    const program = await dial({ host: address, port });
    if (program !== undefined) return program;
  }
  return undefined;
};

const dial = async (endpoint: Endpoint): Promise<Socket | undefined> => {
  const program = connect({ ...endpoint, noDelay: true });
  try {
    await once(program, 'connect', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) });
    return program;
  } catch {
    program.on('error', () => undefined).destroy();
    return undefined;
  }
};

const unreachable = (): DomainError =>
  new DomainError('upstream', 'app_unreachable', "Nothing listens on the agent's $PORT.");

const tooMany = (): DomainError =>
  new DomainError(
    'exhausted',
    'too_many_app_connections',
    `An agent has at most ${MAX_CONNECTIONS} connections to its app.`,
  );
