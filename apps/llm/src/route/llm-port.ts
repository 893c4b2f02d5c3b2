import { detach } from '@berth/kernel';
import { GuardedServer, onExchange } from '@berth/sockets';
import { ServiceContext } from '@berth/service';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LlmConfig } from '../config.js';
import { LlmRoute } from './llm-route.js';

const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
/** A body of 32 MiB over a slow line. */
const REQUEST_MS = 600_000;
const STALLED_MS = 120_000;

/** The HTTP server of the route. Gateways forward to it what agents send. */
@Injectable()
export class LlmPort implements OnModuleInit, BeforeApplicationShutdown {
  readonly #server: GuardedServer;
  #url = '';

  constructor(
    private readonly config: LlmConfig,
    route: LlmRoute,
    private readonly context: ServiceContext,
  ) {
    const options = {
      noDelay: true,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    const bounds = { most: config.maxConnections, idleMs: KEEP_ALIVE_MS + HEADERS_MS, stalledMs: STALLED_MS };
    this.#server = new GuardedServer(options, bounds, (server) => {
      onExchange(server, (exchange) => detach(route.serve(exchange)));
    });
  }

  /** An origin. */
  get url(): string {
    return this.#url;
  }

  async onModuleInit(): Promise<void> {
    this.#url = new URL(await this.#server.listen(this.config.port)).origin;
    this.context.onDrain((withinMs) => this.#server.drain(withinMs));
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#server.close();
  }
}
