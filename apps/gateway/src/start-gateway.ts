import { NestLogger, type ProcessHandlers } from '@berth/messaging';
import { launchApp, LaunchModule, ServiceContext, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { GatewayConfig } from './config.js';
import { GatewayModule } from './gateway.module.js';
import { serverOptions } from './http/fastify-server.js';
import { listenOn } from './http/listen.js';
import { RouteTable, type DeclaredRoute } from './http/route-table.js';
import { OpenApiDocument } from './openapi/openapi-document.js';

export interface RunningGateway extends Stoppable {
  /** `http://localhost:<port>` */
  readonly url: string;
  /** Every route of the router, `HEAD` left out. */
  readonly routes: readonly DeclaredRoute[];
}

export interface GatewayOptions {
  readonly module?: Type;
  /** Those of the services that run in this process, too. */
  readonly handlers?: ProcessHandlers;
}

/**
 * Starts the gateway and resolves once it accepts requests; a failed start closes what it opened. Stopping refuses new
 * connections, ends streams, and waits at most 5 s for requests in flight.
 */
export const startGateway = async (
  config: GatewayConfig,
  log: Logger,
  { module = GatewayModule, ...options }: GatewayOptions = {},
): Promise<RunningGateway> => {
  const context = new ServiceContext('gateway', { config, log, ...options });
  const { app, address, name, stop } = await launchApp(context, {
    create: () => createApp(context, module),
    listen: (created) => listenOn(created, config),
  });
  return { name, url: address, routes: app.get(RouteTable).all(), stop };
};

const createApp = async (
  context: ServiceContext<GatewayConfig>,
  module: Type,
): Promise<NestFastifyApplication> => {
  const adapter = new FastifyAdapter({ ...serverOptions(context.config), skipMiddie: true });
  const root = LaunchModule.of(module, context);
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(context.log),
  });
  await app.init();
  app.get(OpenApiDocument).describe(app);
  return app;
};
