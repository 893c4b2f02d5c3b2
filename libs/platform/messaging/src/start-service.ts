import type { Logger } from '@berth/telemetry';
import type { DynamicModule, INestMicroservice, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { BerthNatsServer } from './berth-nats-server.js';
import type { NatsLink } from './nats-link.js';
import { NestLogger } from './nest-logger.js';

export interface ServiceOptions {
  /** Also the queue group of its requests. */
  readonly name: string;
  readonly module: DynamicModule | Type;
  readonly link: NatsLink;
  readonly host?: string;
  readonly log: Logger;
}

export interface RunningService {
  readonly name: string;
  readonly app: INestMicroservice;
  /** Stops accepting requests, lets running ones finish (for a bounded time), then runs Nest's shutdown hooks. */
  stop(): Promise<void>;
}

/** Starts a service's Nest module on its link; resolves once the service receives requests. */
export const startService = async (options: ServiceOptions): Promise<RunningService> => {
  const { name, module, link, log } = options;
  const strategy = new BerthNatsServer({
    link,
    queue: name,
    log,
    ...(options.host === undefined ? {} : { host: options.host }),
  });
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
    strategy,
    logger: new NestLogger(log),
    abortOnError: false,
  });
  await app.listen();
  let stopping: Promise<void> | undefined;
  return { name, app, stop: () => (stopping ??= app.close()) };
};
