import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GatewayConfig } from '../config.js';

/** The address under which callers reach the gateway. */
@Injectable()
export class PublicOrigin {
  constructor(
    private readonly config: GatewayConfig,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Without a path. The gateway must be listening. */
  get url(): string {
    return this.config.publicUrl ?? `http://localhost:${String(this.#port)}`;
  }

  get #port(): number {
    const server = this.adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo };
    return server.address().port;
  }
}
