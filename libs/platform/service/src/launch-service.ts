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
  return launchApp(context, {
    create: () =>
      NestFactory.createMicroservice<AsyncMicroserviceOptions>(LaunchModule.of(module, context), {
        ...transportOf(context),
        logger: new NestLogger(context.log),
        abortOnError: false,
      }),
    listen: (app) => app.listen(),
  });
};

/** How `launchApp` creates an application, and what makes it accept requests. */
export interface Launch<App, Address> {
  create(): Promise<App>;
  listen(app: App): Promise<Address>;
}

/** An application that accepts requests at `address`. */
export interface LaunchedApp<App, Address> extends Stoppable {
  readonly app: App;
  readonly address: Address;
}

/** Starts an application on `context`. When that fails, everything that was opened is closed again. */
export const launchApp = async <App extends INestApplicationContext, Address>(
  context: ServiceContext,
  { create, listen }: Launch<App, Address>,
): Promise<LaunchedApp<App, Address>> => {
  let app: App | undefined;
  const stop = (): Promise<void> => stopLaunched(context, app);
  try {
    app = await create();
    const address = await listen(app);
    context.started();
    let stopped: Promise<void> | undefined;
    return {
      name: context.name,
      app,
      address,
      drain: (withinMs) => context.drain(withinMs),
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * Stops what was launched on `context`, in order: requests in flight, background work, connections. A failing step does
 * not prevent the later ones.
 */
const stopLaunched = async (
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

const transportOf = (context: ServiceContext): AsyncMicroserviceOptions => ({
  inject: [NatsLink],
  useFactory: (link: NatsLink) => {
    const { name, host, log } = context;
    const strategy = new BerthNatsServer({ link, queue: name, ...(host === undefined ? {} : { host }), log });
    context.onDrain((withinMs) => strategy.drain(withinMs));
    return { strategy };
  },
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
