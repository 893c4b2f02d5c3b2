import { NestLogger } from '@berth/messaging';
import { launchApp, LaunchModule, ServiceContext, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ViewerServer } from './computers/viewer/viewer-server.js';
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

/**
 * Starts the gateway and resolves once it accepts requests; a failed start closes what it opened. Stopping refuses new
 * connections, ends streams, and waits at most 5 s for requests in flight.
 */
export const startGateway = async (
  config: GatewayConfig,
  log: Logger,
  module: Type = GatewayModule,
): Promise<RunningGateway> => {
  const context = new ServiceContext('gateway', { config, log });
  const { app, address, name, stop } = await launchApp(context, {
    create: () => createApp(context, module),
    listen: async (created) => {
      const url = await listenOn(created, config);
      await created.get(ViewerServer).listen();
      return url;
    },
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
