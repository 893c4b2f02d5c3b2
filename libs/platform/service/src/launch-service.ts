import { BerthNatsServer, NatsLink, NestLogger } from '@berth/messaging';
import {
  Global,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type INestMicroservice,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { definitionOf } from './definition-of.js';
import { ServiceContext, type LaunchOptions } from './service-context.js';
import type { ServiceSettings } from './service-definition.js';
import type { Stoppable } from './stoppable.js';

/** A service that handles requests. */
export interface LaunchedService extends Stoppable {
  readonly app: INestMicroservice;
}

/**
 * Starts a service: opens its connections, waits until its tables contain what the log held at the start, and resolves
 * once it handles requests. When that fails, everything that was opened is closed again. Throws the reason of
 * `options.signal` when that aborts first.
 */
export const launchService = async <Config extends ServiceSettings>(
  module: Type,
  options: LaunchOptions<Config>,
): Promise<LaunchedService> => {
  const { name, host } = definitionOf(module);
  const context = new ServiceContext(name, options, await host?.(options.config));
  let app: INestMicroservice | undefined;
  const stop = (): Promise<void> => stopLaunched(context, app);
  try {
    app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(LaunchModule.of(module, context), {
      ...transportOf(context),
      logger: new NestLogger(context.log),
      abortOnError: false,
    });
    await app.listen();
    context.started();
    let stopped: Promise<void> | undefined;
    return { name, app, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * Stops what was launched on `context`, in order: requests in flight, background work, connections. A failing step does
 * not prevent the later ones.
 */
export const stopLaunched = async (
  context: ServiceContext,
  app: Pick<INestApplicationContext, 'close'> | undefined,
): Promise<void> => {
  try {
    await context.beginToStop();
  } finally {
    try {
      await app?.close();
    } finally {
      await context.resources.disposeAsync();
    }
  }
};

const transportOf = ({ name, host, log }: ServiceContext): AsyncMicroserviceOptions => ({
  inject: [NatsLink],
  useFactory: (link: NatsLink) => ({
    strategy: new BerthNatsServer({ link, queue: name, ...(host === undefined ? {} : { host }), log }),
  }),
});

/** The root of a service's application: its module and its `ServiceContext`. */
@Global()
@Module({})
export class LaunchModule {
  static of(module: Type, context: ServiceContext): DynamicModule {
    return {
      module: LaunchModule,
      imports: [module],
      providers: [{ provide: ServiceContext, useValue: context }],
      exports: [ServiceContext],
    };
  }
}
