import { EventStore, ProjectionRunner, type Projection } from '@berth/event-store';
import { ProjectionRunners } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Inject, Module, type DynamicModule } from '@nestjs/common';

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
          inject: [EventStore, Database, ProjectionRunners, Logger],
          useFactory: (store: EventStore, database: Database, runners: ProjectionRunners, log: Logger) =>
            runners.add(
              projection.name,
              new ProjectionRunner({ store, database, projection, log, ...options }),
            ),
        },
      ],
      exports: [token],
    };
  }
}
