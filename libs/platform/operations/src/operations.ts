import type { EventStore, ProjectionRunner } from '@berth/event-store';
import { systemClock } from '@berth/kernel';
import { BrokerCheck, type EventConsumer, type NatsLink } from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { DeadLetterDesk } from './dead-letter-desk.js';
import { HealthCheck } from './health-check.js';
import { Projections } from './projections.js';

/** What a service with tables and streams tells operators about itself. */
export interface Operations {
  readonly projections: Projections;
  readonly deadLetters: DeadLetterDesk;
  readonly health: HealthCheck;
}

export interface OperationsOptions {
  readonly service: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly link: NatsLink;
  readonly log: Logger;
  readonly projections: { readonly [name: string]: ProjectionRunner };
  /** Contexts whose events the service publishes. */
  readonly publishes?: readonly string[];
  readonly consumers?: readonly EventConsumer[];
}

export const operationsOf = (options: OperationsOptions): Operations => {
  const { service, store, database, link, log, projections, publishes, consumers = [] } = options;
  const deadLetters = new DeadLetterDesk(service, consumers, log);
  const broker = new BrokerCheck(link, publishes);
  return {
    projections: new Projections(service, projections, systemClock, log),
    deadLetters,
    health: new HealthCheck({ store, database, broker, deadLetters }),
  };
};
