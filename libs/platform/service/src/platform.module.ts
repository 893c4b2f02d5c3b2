import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { EventStore, SnapshotTable } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { BrokerCheck, NatsLink, Requester } from '@berth/messaging';
import { OperationsModule } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Global, Module, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundTasks } from './background-task.js';
import { ConsumerParts, EventConsumption } from './consume-events.js';
import { CaughtUpProjections } from './caught-up-projections.js';
import { HostIdentity } from './host-identity.js';
import {
  closeParts,
  openParts,
  openPartsWithoutLog,
  openPartsWithoutTables,
  type ServiceParts,
} from './open-parts.js';
import { OpenedResources } from './opened-resources.js';
import { ServiceContext } from './service-context.js';
import type { ServiceDefinition, ServiceOptions, ServiceSettings } from './service-definition.js';

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
 * operations interface. Providers inject `EventStore`, `SnapshotTable`, `NatsLink`, `Requester`, `Database`, `Logger`,
 * `Clock`, `Supervisor`, `ServiceContext`, `HostIdentity` and the service's configuration by their classes.
 */
@Global()
@Module({})
export class PlatformModule {
  static forService<Config extends ServiceSettings = ServiceEnv>(
    options: ServiceOptions<Config>,
  ): ServicePlatform {
    const completed = { config: ServiceEnv, readConfig: readServiceEnv, ...options };
    const definition = completed as unknown as ServiceDefinition;
    const providers = [...basicProviders(definition), ...partProviders(definition)];
    const projects = hasProjections(definition);
    return {
      module: PlatformModule,
      imports: [DiscoveryModule, ...operationsOf(definition)],
      providers: [
        ...providers,
        OpenedResources,
        ...(projects ? [CaughtUpProjections, ConsumerParts, EventConsumption, BackgroundTasks] : []),
      ],
      exports: [...tokensOf(providers), ...(projects ? [OperationsModule] : [])],
      definition,
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

/** Whether the service derives tables from the event log, and relays and consumes events. */
const hasProjections = ({ eventLog, tables }: ServiceDefinition): boolean =>
  eventLog !== false && tables !== undefined;

const operationsOf = (definition: ServiceDefinition): DynamicModule[] => {
  const { name, eventLog } = definition;
  if (hasProjections(definition)) return [OperationsModule.forService(name)];
  return eventLog === false ? [] : [OperationsModule.forHealth(name)];
};

const basicProviders = ({ config, host }: ServiceDefinition): Provider[] => [
  { provide: config, inject: [ServiceContext], useFactory: (context: ServiceContext) => context.config },
  { provide: Logger, inject: [ServiceContext], useFactory: (context: ServiceContext) => context.log },
  { provide: Clock, inject: [ServiceContext], useFactory: (context: ServiceContext) => context.clock },
  ...(host === undefined
    ? []
    : [
        {
          provide: HostIdentity,
          inject: [ServiceContext],
          useFactory: (context: ServiceContext) => new HostIdentity(context.host ?? ''),
        },
      ]),
  {
    provide: Supervisor,
    inject: [ServiceContext],
    useFactory: ({ name, log }: ServiceContext) => new Supervisor(name, log),
  },
];

const partProviders = (definition: ServiceDefinition): Provider[] => [
  { provide: PARTS, inject: [ServiceContext], useFactory: openedBy(definition) },
  partOf(NatsLink, 'link'),
  { provide: Requester, inject: [NatsLink], useFactory: (link: NatsLink) => new Requester(link) },
  ...(definition.eventLog === false ? [] : [partOf(EventStore, 'store')]),
  ...(definition.tables === undefined ? [] : [partOf(Database, 'database')]),
  ...(hasProjections(definition) ? [partOf(BrokerCheck, 'broker'), SNAPSHOTS] : []),
];

const readServiceEnv = (env: Env): ServiceEnv => {
  const reader = readEnv(env);
  return reader.done(reader.serviceEnv());
};

const openedBy =
  (definition: ServiceDefinition) =>
  async (context: ServiceContext): Promise<Partial<ServiceParts>> => {
    const opening = opened(definition, context);
    // Another provider may fail while this one waits.
    context.resources.defer(() => opening.then(closeParts, () => undefined));
    return opening;
  };

const opened = async (
  { name, eventLog, tables, streams }: ServiceDefinition,
  { config, host, log, handlers, startSignal: signal }: ServiceContext,
): Promise<Pick<ServiceParts, 'link'> & Partial<ServiceParts>> => {
  const options = { name, config: config as ServiceEnv, log, handlers, signal };
  if (eventLog === false) {
    const client = host === undefined ? name : `${name}-${host}`;
    return openPartsWithoutLog({ ...options, client, tables });
  }
  return tables === undefined
    ? openPartsWithoutTables(options)
    : openParts({ ...options, ...tables, needs: streams ?? {} });
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
