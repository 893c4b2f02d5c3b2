import type { EventStore, RecordedEvent } from '@berth/event-store';
import type { ContractEvent } from '@berth/kernel';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { Retention } from './event-stream.js';
import type { NatsLink } from './nats-link.js';

export interface EventRelayOptions {
  readonly store: EventStore;
  readonly link: NatsLink;
  /** Holds the relay's checkpoint and the lock that lets only one relay run. */
  readonly database: Database;
  readonly context: string;
  /** Stream categories of the log that this context owns. */
  readonly categories: readonly string[];
  /** Returns null for an event that is private to the context. */
  readonly toContractEvent: (event: RecordedEvent) => ContractEvent | null;
  readonly log: Logger;
  readonly retention?: Retention;
}
