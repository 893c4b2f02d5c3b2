import type { ServiceHealth } from '@berth/contracts/operations';
import type { EventStore } from '@berth/event-store';
import type { BrokerCheck } from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Supervisor } from '@berth/supervision';
import type { DeadLetterOperations } from './dead-letter-operations.js';
import { PartCheck } from './part-check.js';

export interface HealthCheckParts {
  readonly store: EventStore;
  /** Absent for a service without tables. */
  readonly database?: Database;
  /** Absent for a service without streams. */
  readonly broker?: BrokerCheck;
  readonly deadLetters?: DeadLetterOperations;
  readonly background: Pick<Supervisor, 'failing'>;
}

/** Checks whether the backing services of one service respond, by a real request to each. */
export class HealthCheck {
  readonly #store: PartCheck<boolean>;
  readonly #database: PartCheck<boolean> | null;
  readonly #broker: PartCheck<boolean> | null;
  readonly #deadLetters: PartCheck<number>;
  readonly #background: Pick<Supervisor, 'failing'>;

  constructor({ store, database, broker, deadLetters, background }: HealthCheckParts) {
    this.#store = new PartCheck(() => done(store.ping()));
    this.#database = database === undefined ? null : new PartCheck(() => done(database.ping()));
    this.#broker = broker === undefined ? null : new PartCheck(() => broker.isFit());
    this.#background = background;
    this.#deadLetters = new PartCheck(async () => (await deadLetters?.count()) ?? 0);
  }

  async check(): Promise<ServiceHealth> {
    const [eventStore, postgres, jetStream, deadLetters] = await Promise.all([
      this.#store.result(),
      this.#database === null ? null : this.#database.result(),
      this.#broker === null ? null : this.#broker.result(),
      this.#deadLetters.result(),
    ]);
    return {
      eventStore: eventStore ?? false,
      postgres: postgres === undefined ? false : postgres,
      jetStream: jetStream === undefined ? false : jetStream,
      deadLetters: deadLetters ?? null,
      failing: this.#background.failing,
    };
  }
}

const done = (work: Promise<unknown>): Promise<boolean> => work.then(() => true);
