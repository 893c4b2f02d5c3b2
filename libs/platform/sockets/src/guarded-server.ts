import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { guardServer, type ConnectionBounds } from './guard-server.js';
import { TlsHandshakes } from './tls-handshakes.js';

const CLOSE_IDLE_EVERY_MS = 250;
/** TLS handshakes at a time, in addition to the connections: a share of these, and so many at least. */
const HANDSHAKES_SHARE = 0.25;
const LEAST_HANDSHAKES = 8;

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
  readonly #handshakes: TlsHandshakes | undefined;

  /** `addListeners` registers those for requests and upgrades. */
  constructor(
    options: ServerOptions & Partial<ServerCertificate>,
    bounds: ConnectionBounds,
    addListeners: (server: Server) => void,
  ) {
    if (options.cert === undefined) {
      this.#scheme = 'http';
      this.#server = createServer(options);
    } else {
      const server = createSecureServer(overTls(options));
      this.#scheme = 'https';
      this.#server = server;
      // The guard counts connections after their handshake.
      this.#handshakes = new TlsHandshakes(
        server,
        Math.max(LEAST_HANDSHAKES, bounds.most * HANDSHAKES_SHARE),
      );
    }
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
    this.#handshakes?.end();
    await closed;
  }
}

const overTls = (options: ServerOptions): ServerOptions & TlsOptions => ({
  ...options,
  // As on plain connections: one end of an upgraded connection may close before the other.
  allowHalfOpen: true,
  ...(options.headersTimeout === undefined ? {} : { handshakeTimeout: options.headersTimeout }),
});
