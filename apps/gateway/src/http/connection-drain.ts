import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** A chat may wait for 600 s. A request that takes longer than this is cut, and its caller does not learn its outcome. */
export const DRAIN_MS = 5_000;

/** Bounds how long requests in flight may delay the shutdown. */
@Injectable()
export class ConnectionDrain implements BeforeApplicationShutdown, OnApplicationShutdown {
  #cut: NodeJS.Timeout | undefined;

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    const server: { closeAllConnections(): void } = this.adapterHost.httpAdapter.getHttpServer();
    this.#cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.#cut);
  }
}
