import type { EventStore, ProjectionRunner } from '@berth/event-store';
import { systemClock } from '@berth/kernel';
import type { BrokerCheck, EventConsumer } from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { DeadLetterDesk } from './dead-letter-desk.js';
import { EventConsumers } from './event-consumers.js';
import { HealthCheck } from './health-check.js';
import { ProjectionRunners } from './projection-runners.js';
import { Projections } from './projections.js';

/** The operations interface of a service with tables and streams. */
export interface Operations {
  readonly projections: Projections;
  readonly deadLetters: DeadLetterDesk;
  readonly health: HealthCheck;
}

export interface OperationsOptions {
  readonly service: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly broker: BrokerCheck;
  readonly log: Logger;
  readonly projections: { readonly [name: string]: ProjectionRunner };
  readonly consumers?: readonly EventConsumer[];
}

export const operationsOf = (options: OperationsOptions): Operations => {
  const { service, store, database, broker, log, projections, consumers = [] } = options;
  const deadLetters = new DeadLetterDesk(service, new EventConsumers(consumers), log);
  const runners = new ProjectionRunners();
  for (const [name, runner] of Object.entries(projections)) runners.add(name, runner);
  return {
    projections: new Projections(service, runners, systemClock, log),
    deadLetters,
    health: new HealthCheck({ store, database, broker, deadLetters }),
  };
};
