import type { ServiceEnv } from '@berth/config';
import { EventStore, SnapshotTable } from '@berth/event-store';
import { Clock, systemClock } from '@berth/kernel';
import { BrokerCheck, NatsLink, Requester } from '@berth/messaging';
import { OperationsModule } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Global, Module, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundTasks } from './background-task.js';
import { BackgroundWork } from './background-work.js';
import { ConsumerParts, EventConsumption } from './consume-events.js';
import { CaughtUpProjections } from './caught-up-projections.js';
import { closeParts, openParts, openPartsWithoutTables, type ServiceParts } from './open-parts.js';
import { OpenedResources } from './opened-resources.js';
import { ServiceContext } from './service-context.js';
import type { ServiceDefinition, ServiceSettings } from './service-definition.js';

/** The module with the definition that it was made from. */
export interface ServicePlatform extends DynamicModule {
  readonly definition: ServiceDefinition;
}

const PARTS = Symbol('opened parts');

const SNAPSHOTS: FactoryProvider = {
  provide: SnapshotTable,
  inject: [Database, Logger],
  useFactory: (database: Database, log: Logger) => new SnapshotTable(database, log),
};

/**
 * What every service has: its configuration and logger, the event log, the broker, its tables, background work, and the
 * operations interface. Providers inject `EventStore`, `SnapshotTable`, `NatsLink`, `Requester`, `Database`, `Logger`, `Clock`,
 * `BackgroundWork`, `ServiceContext` and the service's configuration by their classes.
 */
@Global()
@Module({})
export class PlatformModule {
  static forService<Config extends ServiceSettings>(definition: ServiceDefinition<Config>): ServicePlatform {
    const { name, config, tables } = definition;
    const withTables = tables !== undefined;
    const providers: Provider[] = [
      { provide: config, inject: [ServiceContext], useFactory: (context: ServiceContext) => context.config },
      { provide: Logger, inject: [ServiceContext], useFactory: (context: ServiceContext) => context.log },
      { provide: Clock, useValue: systemClock },
      { provide: PARTS, inject: [ServiceContext], useFactory: openedBy(definition) },
      partOf(EventStore, 'store'),
      partOf(NatsLink, 'link'),
      { provide: Requester, inject: [NatsLink], useFactory: (link: NatsLink) => new Requester(link) },
      ...(withTables ? [partOf(Database, 'database'), partOf(BrokerCheck, 'broker'), SNAPSHOTS] : []),
      BackgroundWork,
    ];
    return {
      module: PlatformModule,
      imports: [
        DiscoveryModule,
        withTables ? OperationsModule.forService(name) : OperationsModule.forHealth(name),
      ],
      providers: [
        ...providers,
        OpenedResources,
        ...(withTables ? [CaughtUpProjections, ConsumerParts, EventConsumption, BackgroundTasks] : []),
      ],
      exports: [...tokensOf(providers), ...(withTables ? [OperationsModule] : [])],
      definition: definition as unknown as ServiceDefinition,
    };
  }

  static isForService(imported: unknown): imported is ServicePlatform {
    return (
      typeof imported === 'object' &&
      imported !== null &&
      'module' in imported &&
      imported.module === PlatformModule
    );
  }
}

const openedBy =
  ({ name, tables, streams }: Pick<ServiceDefinition, 'name' | 'tables' | 'streams'>) =>
  async ({ config, log, startSignal, resources }: ServiceContext): Promise<Partial<ServiceParts>> => {
    const options = { name, config: config as ServiceEnv, log, signal: startSignal };
    const opening =
      tables === undefined
        ? openPartsWithoutTables(options)
        : openParts({ ...options, ...tables, needs: streams ?? {} });
    // Another provider may fail while this one waits.
    resources.defer(() => opening.then(closeParts, () => undefined));
    return opening;
  };

const partOf = (token: FactoryProvider['provide'], part: keyof ServiceParts): FactoryProvider => ({
  provide: token,
  inject: [PARTS],
  useFactory: (parts: ServiceParts) => parts[part],
});

const tokensOf = (providers: readonly Provider[]): FactoryProvider['provide'][] =>
  providers
    .map((provider) => (typeof provider === 'function' ? provider : provider.provide))
    .filter((token) => token !== PARTS);
