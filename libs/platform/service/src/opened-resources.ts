import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceContext } from './service-context.js';

/** Closes the connections of the service once everything that uses them has stopped. */
@Injectable()
export class OpenedResources implements OnApplicationShutdown {
  constructor(private readonly context: ServiceContext) {}

  async onApplicationShutdown(): Promise<void> {
    await this.context.resources.disposeAsync();
  }
}
