import type { Json } from '@berth/kernel';
import type { EventStore, RecordedEvent } from '@berth/event-store';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { Retention } from './event-stream.js';
import type { NatsLink } from './nats-link.js';

/** What others may know of an event: `evt.<context>.<past-tense>.v1.<account>.<id>` and its whitelisted data. */
export interface ContractEvent {
  readonly subject: string;
  readonly payload: { readonly [key: string]: Json | undefined };
}

export interface EventRelayOptions {
  readonly store: EventStore;
  readonly link: NatsLink;
  /** Keeps the relay's checkpoint, and the lock that makes it the only one. */
  readonly database: Database;
  readonly context: string;
  /** Stream categories of the log that this context owns. */
  readonly categories: readonly string[];
  /** null when the event is nobody else's business. */
  readonly toContractEvent: (event: RecordedEvent) => ContractEvent | null;
  readonly log: Logger;
  readonly retention?: Retention;
}
