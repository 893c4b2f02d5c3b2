import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { guardServer, type ConnectionBounds } from './guard-server.js';

const CLOSE_IDLE_EVERY_MS = 250;

/** The address of a server. Port 0 picks a free port; `url` is the address for its clients, if it is different. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string | undefined;
}

/** A server's certificate with its key, as PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** An HTTP server on TCP, over TLS if it has a certificate, whose connections are bounded in number and time. */
export class GuardedServer {
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';
  /** Also those in their TLS handshake, which Node does not count as connections of the server. */
  readonly #accepted = new Set<Socket>();

  /** `addListeners` registers those for requests and upgrades. */
  constructor(
    options: ServerOptions & Partial<ServerCertificate>,
    bounds: ConnectionBounds,
    addListeners: (server: Server) => void,
  ) {
    this.#scheme = options.cert === undefined ? 'http' : 'https';
    this.#server = options.cert === undefined ? createServer(options) : createSecureServer(overTls(options));
    // The guard counts connections after their handshake; as many again may be in it.
    this.#server.maxConnections = 2 * bounds.most;
    this.#server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
    });
    addListeners(this.#server);
    guardServer(this.#server, bounds);
  }

  /** Resolves with the URL that clients use, once it accepts connections. Rejects if the address is not available. */
  async listen({ host, port, url }: ServerAddress): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const { address, family, port: bound } = this.#server.address() as AddressInfo;
    return url ?? `${this.#scheme}://${family === 'IPv6' ? `[${address}]` : address}:${String(bound)}`;
  }

  /** Accepts no more connections, and resolves when the requests in flight have ended, after `withinMs` at the latest. */
  async drain(withinMs: number): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    // One that becomes idle later would be kept for its next request.
    const closing = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    await Promise.race([closed, pause(withinMs, undefined, { ref: false })]);
    clearInterval(closing);
  }

  /** Ends it and all its connections. Idempotent. */
  async close(): Promise<void> {
    if (!this.#server.listening) return this.#server.closeAllConnections();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#accepted) socket.destroy();
    await closed;
  }
}

const overTls = (options: ServerOptions): ServerOptions & TlsOptions => ({
  ...options,
  // As on plain connections: one end of an upgraded connection may close before the other.
  allowHalfOpen: true,
  ...(options.headersTimeout === undefined ? {} : { handshakeTimeout: options.headersTimeout }),
});
