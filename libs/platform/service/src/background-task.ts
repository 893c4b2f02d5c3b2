import { AdvisoryLock, Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ServiceContext } from './service-context.js';

/**
 * A provider with work for the lifetime of the service. `run` resolves soon after `signal` aborts, and throws when it
 * fails: the supervisor then runs it again, here or in another process.
 */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Marks a provider that is `Runnable`: the platform runs it in one process of the cluster at a time, under the advisory
 * lock `<service>/<name>`. The lock alone fences nothing: writes need a compare-and-set.
 */
export const RunOnOneInstance = DiscoveryService.createDecorator<{ readonly name: string }>();

/** Runs every provider with `@RunOnOneInstance`. */
@Injectable()
export class BackgroundTasks implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly supervisor: Supervisor,
    private readonly database: Database,
    private readonly context: ServiceContext,
  ) {}

  onApplicationBootstrap(): void {
    for (const provider of this.discovery.getProviders({ metadataKey: RunOnOneInstance.KEY })) {
      const task = this.discovery.getMetadataByDecorator(RunOnOneInstance, provider);
      if (task !== undefined) this.start(task.name, provider.instance as Runnable);
    }
  }

  private start(name: string, task: Runnable): void {
    const lock = `${this.context.name}/${name}`;
    this.supervisor.start(name, (signal) =>
      AdvisoryLock.hold(this.database, lock, signal, (held) => task.run(held)),
    );
  }
}
