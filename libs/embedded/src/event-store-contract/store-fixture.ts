import { randomUUID } from 'node:crypto';
import {
  type AllStreamSubscription,
  type AppendExpectedRevision,
  type AppendResult,
  EventStoreDBClient,
  type EventType,
  jsonEvent,
  type JSONEventData,
  type ResolvedEvent,
  type StreamSubscription,
} from '@eventstore/db-client';

const DEADLINE_MS = 10_000;

/**
 * Credentials per call make the client use a separate call for each append. Its batch append keeps the pending results
 * of all clients of a process in one table, where one failing stream rejects those of the others.
 */
export const CREDENTIALS = { username: 'admin', password: 'changeit' };

/** An event as the contract tests write it. */
export type ContractEvent = JSONEventData;

/** A client and unique names for one contract run, so that it can share a store with others. */
export class StoreFixture {
  readonly run = randomUUID().slice(0, 8);
  readonly client: EventStoreDBClient;
  #streams = 0;

  constructor(connectionString: string) {
    this.client = EventStoreDBClient.connectionString(connectionString);
  }

  /** The name of a stream that was never used before. */
  stream(): string {
    this.#streams += 1;
    return `contract-${this.run}.${this.#streams}`;
  }

  append(
    stream: string,
    events: ContractEvent | ContractEvent[],
    expectedRevision: AppendExpectedRevision = 'any',
    options: { deadline?: number } = {},
  ): Promise<AppendResult> {
    return this.client.appendToStream(stream, events, {
      expectedRevision,
      credentials: CREDENTIALS,
      ...options,
    });
  }

  async read(
    stream: string,
    options: Parameters<EventStoreDBClient['readStream']>[1] = {},
  ): Promise<ResolvedEvent[]> {
    const events: ResolvedEvent[] = [];
    for await (const event of this.client.readStream(stream, options)) events.push(event);
    return events;
  }

  /** Numbers (`data.n`) of the events of a stream, in the order in which they are read. */
  async numbers(
    stream: string,
    options: Parameters<EventStoreDBClient['readStream']>[1] = {},
  ): Promise<number[]> {
    return (await this.read(stream, options)).map(numberOf);
  }

  /** Like `numbers`, but waits until the stream is found: just after an append to a deleted stream, it may not be. */
  async numbersOnceFound(stream: string): Promise<number[]> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      try {
        return await this.numbers(stream);
      } catch (error) {
        const notFound = error instanceof Error && 'type' in error && error.type === 'stream-not-found';
        if (!notFound || Date.now() > deadline) throw error;
      }
    }
  }

  /** How many events the stream has; 0 when the stream does not exist. */
  async length(stream: string): Promise<number> {
    try {
      return (await this.read(stream)).length;
    } catch (error) {
      if (error instanceof Error && 'type' in error && error.type === 'stream-not-found') return 0;
      throw error;
    }
  }

  dispose(): Promise<void> {
    return this.client.dispose();
  }
}

/** Creates an event that carries its number. */
export function numbered(n: number, { type = 'Numbered', id = randomUUID() as string } = {}): ContractEvent {
  return jsonEvent({ id, type, data: { n } });
}

/** Creates events numbered `from`..`to`, both inclusive. */
export function numberedRange(from: number, to: number, type = 'Numbered'): ContractEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => numbered(from + index, { type }));
}

/** The number in an event created by {@link numbered}. */
export function numberOf(resolved: ResolvedEvent): number {
  const data = resolved.event?.data as { n?: number } | undefined;
  return data?.n ?? Number.NaN;
}

/** The error that a promise rejects with; throws when it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { type?: string }> {
  const settled = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (settled instanceof Error) return settled;
  throw new Error('expected a rejection, but the call succeeded');
}

/** Collects the events of a subscription in order, with waits that time out. */
export class Subscriber {
  readonly events: ResolvedEvent<EventType>[] = [];
  readonly #changed: (() => void)[] = [];
  caughtUp = 0;
  error: (Error & { type?: string }) | undefined;

  constructor(private readonly subscription: StreamSubscription | AllStreamSubscription) {
    const source = subscription as AllStreamSubscription;
    source.on('data', (event) => this.#change(() => this.events.push(event)));
    source.on('caughtUp', () => this.#change(() => (this.caughtUp += 1)));
    source.on('error', (error) => this.#change(() => (this.error = error)));
  }

  get numbers(): number[] {
    return this.events.map(numberOf);
  }

  /** Resolves once `condition` holds; rejects when it does not hold in time. */
  async until(condition: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    while (!condition()) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`timed out waiting for ${what}; got ${this.events.length} events`);
      await this.#nextChange(left);
    }
  }

  async stop(): Promise<void> {
    await this.subscription.unsubscribe();
  }

  #change(apply: () => unknown): void {
    apply();
    for (const changed of this.#changed.splice(0)) changed();
  }

  #nextChange(atMostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(atMostMs, 50));
      this.#changed.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
