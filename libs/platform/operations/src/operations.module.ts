import { EventStore } from '@berth/event-store';
import { Clock } from '@berth/kernel';
import { BrokerCheck } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Module, type DynamicModule } from '@nestjs/common';
import { DeadLetterOperations } from './dead-letter-operations.js';
import { EventConsumers } from './event-consumers.js';
import { HealthCheck } from './health-check.js';
import { healthController, operationsControllers } from './operations.nats-controllers.js';
import { ProjectionRunners } from './projection-runners.js';
import { Projections } from './projections.js';

/**
 * The operations interface of a service: its health, and for a service with tables its projections and dead letters.
 * Requires the providers of the platform (`EventStore`, `Database`, `BrokerCheck`, `Supervisor`, `Clock`, `Logger`).
 */
@Module({})
export class OperationsModule {
  /** For a service with tables and streams. */
  static forService(service: string): DynamicModule {
    return {
      module: OperationsModule,
      controllers: operationsControllers(service),
      providers: [
        ProjectionRunners,
        { provide: EventConsumers, useFactory: () => new EventConsumers() },
        {
          provide: Projections,
          inject: [ProjectionRunners, Clock, Logger],
          useFactory: (runners: ProjectionRunners, clock: Clock, log: Logger) =>
            new Projections(service, runners, clock, log),
        },
        {
          provide: DeadLetterOperations,
          inject: [EventConsumers, Logger],
          useFactory: (consumers: EventConsumers, log: Logger) =>
            new DeadLetterOperations(service, consumers, log),
        },
        {
          provide: HealthCheck,
          inject: [EventStore, Database, BrokerCheck, DeadLetterOperations, Supervisor],
          useFactory: (
            store: EventStore,
            database: Database,
            broker: BrokerCheck,
            deadLetters: DeadLetterOperations,
            background: Supervisor,
          ) => new HealthCheck({ store, database, broker, deadLetters, background }),
        },
      ],
      exports: [ProjectionRunners, EventConsumers],
    };
  }

  /** For a service that has neither tables nor streams. */
  static forHealth(service: string): DynamicModule {
    return {
      module: OperationsModule,
      controllers: [healthController(service)],
      providers: [
        {
          provide: HealthCheck,
          inject: [EventStore, Supervisor],
          useFactory: (store: EventStore, background: Supervisor) => new HealthCheck({ store, background }),
        },
      ],
    };
  }
}
