import type { Database, SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { MarkedLog } from './log-mark.js';
import type { NatsLink } from './nats-link.js';
import type { ReceivedEvent } from './received-event.js';

export interface EventConsumerOptions {
  readonly link: NatsLink;
  /** Holds the table of processed events; effects on this database are part of the same transaction. */
  readonly database: Database;
  /** The log that the events come from. */
  readonly store: MarkedLog;
  /** The bounded context whose events it consumes, the second token of their subjects. */
  readonly context: string;
  /** The consumer's name, such as `exec-fail-orphans`; the instances of a service share it. */
  readonly durable: string;
  /** Subject filters such as `evt.agents.deleted.v1.*.*`. */
  readonly filterSubjects: readonly [string, ...string[]];
  /**
   * Handles an event. Writes through `tx` are committed together with the row of the processed event, so a redelivery
   * changes nothing. All other effects must be idempotent, such as a command whose id derives from the event's id. If it
   * throws, `tx` is rolled back and the broker redelivers the event later, possibly after newer events of its subject.
   */
  readonly handle: (event: ReceivedEvent, tx: SqlRunner) => Promise<void>;
  /**
   * Discards everything that was derived from later positions (null: from any position). Called after the log was
   * replaced or restored from a backup, in the transaction that lowers the position up to which the consumer has handled
   * all events.
   */
  readonly forgetAfter?: (position: bigint | null, tx: SqlRunner) => Promise<void>;
  readonly log: Logger;
  /** Deliveries before an event becomes a dead letter; default 8. */
  readonly maxDeliveries?: number;
  /** Delays before the second, third … delivery, in milliseconds; the last one repeats. */
  readonly backoffMs?: readonly [number, ...number[]];
}

export const MAX_DELIVERIES = 8;
export const BACKOFF_MS = [500, 2_000, 10_000, 30_000, 120_000, 600_000, 1_800_000] as const;
