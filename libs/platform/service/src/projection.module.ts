import { EventStore, ProjectionRunner, type Projection } from '@berth/event-store';
import { NatsLink, NatsNotices } from '@berth/messaging';
import { ProjectionRunners } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Inject, Module, type DynamicModule } from '@nestjs/common';
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
    const token = tokenOf(projection);
    return {
      module: ProjectionModule,
      providers: [
        {
          provide: token,
          inject: [EventStore, Database, NatsLink, ProjectionRunners, ServiceContext],
          useFactory: (
            store: EventStore,
            database: Database,
            link: NatsLink,
            runners: ProjectionRunners,
            { name, log }: ServiceContext,
          ) => {
            const notices = new NatsNotices(link, name);
            const parts = { store, database, notices, projection, log };
            return runners.add(projection.name, new ProjectionRunner({ ...parts, ...options }));
          },
        },
      ],
      exports: [token],
    };
  }
}
