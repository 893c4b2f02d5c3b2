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
  /** The context whose events it consumes. */
  readonly context: string;
  /** The consumer's name, such as `exec-fail-orphans`; the instances of a service share it. */
  readonly durable: string;
  /** Subject filters such as `evt.agents.deleted.v1.*.*`. */
  readonly filterSubjects: readonly [string, ...string[]];
  /**
   * The effect. Its writes by `tx` are committed together with the row of the processed event, so a redelivery changes
   * nothing; other effects must be idempotent (such as a command whose id derives from the event's). Throwing rolls
   * back and makes the broker redeliver the event later, possibly after newer events of the same subject.
   */
  readonly handle: (event: ReceivedEvent, tx: SqlRunner) => Promise<void>;
  /**
   * Called when the log was replaced or restored from a backup, in the transaction that lowers the consumer's floor:
   * discard everything derived from later positions (null: from any position).
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
