import type { Json } from '@berth/kernel';
import type { EventStore, RecordedEvent } from '@berth/event-store';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { Retention } from './event-stream.js';
import type { NatsLink } from './nats-link.js';

/** The public form of an event: `evt.<context>.<past-tense>.v1.<account>.<id>` and whitelisted data. */
export interface ContractEvent {
  readonly subject: string;
  readonly payload: { readonly [key: string]: Json | undefined };
}

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
