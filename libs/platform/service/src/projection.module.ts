import { EventStore, ProjectionRunner, type Projection } from '@berth/event-store';
import { NatsLink, NatsNotices } from '@berth/messaging';
import { ProjectionRunners } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Inject, Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { ServiceContext } from './service-context.js';

export interface ProjectionOptions {
  /** How long the live tables wait for more events to write at once, in milliseconds; default 0. */
  readonly gatherMs?: number;
}

const tokenOf = ({ name }: Pick<Projection, 'name'>): string => `projection ${name}`;

/** Injects the `ProjectionRunner` of a projection that the module registers. */
export const InjectProjection = (
  projection: Pick<Projection, 'name'>,
): ParameterDecorator & PropertyDecorator => Inject(tokenOf(projection));

/** Runs a projection for the lifetime of the service and lists it in the operations interface. */
@Module({})
export class ProjectionModule {
  static forFeature(projection: Projection, options: ProjectionOptions = {}): DynamicModule {
    return ProjectionModule.forFeatureAsync(projection, { useFactory: () => projection, ...options });
  }

  /** For a projection that needs the service's configuration, or another provider of the platform. */
  static forFeatureAsync(
    { name }: Pick<Projection, 'name'>,
    {
      inject = [],
      useFactory,
      ...options
    }: Pick<FactoryProvider<Projection>, 'inject' | 'useFactory'> & ProjectionOptions,
  ): DynamicModule {
    const token = tokenOf({ name });
    const made = `${token}, made`;
    return {
      module: ProjectionModule,
      providers: [
        { provide: made, inject, useFactory },
        {
          provide: token,
          inject: [made, EventStore, Database, NatsLink, ProjectionRunners, ServiceContext],
          useFactory: (
            projection: Projection,
            store: EventStore,
            database: Database,
            link: NatsLink,
            runners: ProjectionRunners,
            context: ServiceContext,
          ) => {
            const notices = new NatsNotices(link, context.name);
            const parts = { store, database, notices, projection, log: context.log };
            return runners.add(name, new ProjectionRunner({ ...parts, ...options }));
          },
        },
      ],
      exports: [token],
    };
  }
}
