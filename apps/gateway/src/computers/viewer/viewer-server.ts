import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GatewayConfig } from '../../config.js';
import { DRAIN_MS } from '../../http/connection-drain.js';
import { serveAlso } from '../../http/fastify-server.js';
import { explainListenError } from '../../http/listen.js';

/** The part of the gateway's connections that this port may have besides. */
const SHARE = 0.25;

/**
 * A port of its own for viewers, where there is no host name for them: pages of another port are of another origin. It has
 * the pipeline of the gateway, which tells its requests by the port.
 */
@Injectable()
export class ViewerServer implements BeforeApplicationShutdown, OnApplicationShutdown {
  #server: Server | undefined;
  #closed: Promise<unknown> | undefined;
  #cut: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: GatewayConfig,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Undefined unless it listens. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** Whether the request came to this port. */
  received({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#server !== undefined && socket.localPort === this.port;
  }

  /** Listens unless viewers have a host name. The gateway must be listening. */
  async listen(): Promise<void> {
    const { appsHost, host, viewerPort, clientTimeoutMs, maxConnections } = this.config;
    if (appsHost !== undefined) return;
    const server = serveAlso(this.adapterHost.httpAdapter.getHttpServer(), {
      clientTimeoutMs,
      maxConnections: Math.ceil(maxConnections * SHARE),
    });
    try {
      await once(server.listen(viewerPort, host), 'listening');
    } catch (error) {
      throw explainListenError(error, { host, port: viewerPort, variable: 'BERTH_VIEWER_PORT' });
    }
    this.#server = server;
  }

  beforeApplicationShutdown(): void {
    const server = this.#server;
    if (server === undefined) return;
    this.#closed = once(server, 'close');
    server.close();
    this.#cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#closed;
    clearTimeout(this.#cut);
  }
}
