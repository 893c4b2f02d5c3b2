import type { Database, SqlRunner } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { MarkedLog } from './log-mark.js';
import type { NatsLink } from './nats-link.js';
import type { ReceivedEvent } from './received-event.js';

export interface EventConsumerOptions {
  readonly link: NatsLink;
  /** Holds the inbox; effects in it are part of the same transaction. */
  readonly database: Database;
  /** The log that the events come from. */
  readonly store: MarkedLog;
  /** Whose events. */
  readonly context: string;
  /** The consumer's name, e.g. `exec-fail-orphans`; instances of a service share it. */
  readonly durable: string;
  /** e.g. `evt.agents.deleted.v1.*.*`. */
  readonly filterSubjects: readonly [string, ...string[]];
  /**
   * The effect. What it writes by `tx` commits together with the inbox row, so that a second delivery changes nothing;
   * what it does elsewhere must be harmless when done twice (a command with an id made from the event's). Throwing
   * rolls back and brings the event again later. Events of one subject may then overtake each other.
   */
  readonly handle: (event: ReceivedEvent, tx: SqlRunner) => Promise<void>;
  /**
   * Called when the log was replaced or restored from a backup, in the transaction that lowers the consumer's floor: what
   * the handler keeps of later positions (null: of any) is void.
   */
  readonly forgetAfter?: (position: bigint | null, tx: SqlRunner) => Promise<void>;
  readonly log: Logger;
  /** Deliveries before an event becomes a dead letter; 8 unless said otherwise. */
  readonly maxDeliveries?: number;
  /** Waits before the second, third … delivery, in milliseconds; the last one repeats. */
  readonly backoffMs?: readonly [number, ...number[]];
}

export const MAX_DELIVERIES = 8;
export const BACKOFF_MS = [500, 2_000, 10_000, 30_000, 120_000, 600_000, 1_800_000] as const;
