import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardServer, shareOfDescriptors, type ConnectionBounds } from '@berth/sockets';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LlmConfig } from '../config.js';
import { LlmRoute } from './llm-route.js';

const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
/** A body of 32 MiB over a slow line. */
const REQUEST_MS = 600_000;
const BOUNDS: ConnectionBounds = {
  most: shareOfDescriptors(0.4, 8_000),
  idleMs: KEEP_ALIVE_MS + HEADERS_MS,
  stalledMs: 120_000,
};

/** The HTTP server of the route. Gateways forward to it what agents send. */
@Injectable()
export class LlmPort implements OnModuleInit, BeforeApplicationShutdown {
  readonly #server: Server;
  #url = '';

  constructor(
    private readonly config: LlmConfig,
    route: LlmRoute,
  ) {
    this.#server = createServer({
      noDelay: true,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    this.#server.on('request', (request, response) => void route.serve({ request, response }));
    guardServer(this.#server, BOUNDS);
  }

  /** An origin. */
  get url(): string {
    return this.#url;
  }

  async onModuleInit(): Promise<void> {
    const { host, port, url } = this.config.port;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const { address, family, port: bound } = this.#server.address() as AddressInfo;
    this.#url = new URL(
      url ?? `http://${family === 'IPv6' ? `[${address}]` : address}:${String(bound)}`,
    ).origin;
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
