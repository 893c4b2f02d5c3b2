import {
  BACKWARDS,
  END,
  FORWARDS,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  type ReadStreamOptions,
} from '@eventstore/db-client';
import { withSpan, type Logger } from '@berth/telemetry';
import { appendToStream } from './esdb-append.js';
import { esdbConnection, lastPosition, type EsdbConnection } from './esdb-connection.js';
import { isInvalidPosition, mapLogError } from './esdb-errors.js';
import type { EsdbClient } from './leader-connection.js';
import { withRetries, withinTime } from './esdb-timeouts.js';
import { collect } from './esdb-read.js';
import { toRecorded } from './esdb-records.js';
import { followOnce } from './esdb-subscription.js';
import {
  PositionBeyondLog,
  type Appended,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionItem,
} from './event-store.js';

/** Connects on first use. Throws when `url` is not an `esdb://` connection string. */
export const connectEventStore = (options: { url: string; log: Logger }): EventStore =>
  new EsdbEventStore(esdbConnection(options.url, options.log));

/** A health check must report within this time. */
const PING_MS = 1_000;

const CLIENT = { kind: 'client', attributes: { 'db.system.name': 'eventstoredb' } } as const;

/** Spans are named by category, because a name for each stream would make them impossible to aggregate. */
const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf('-')));

class EsdbEventStore implements EventStore {
  readonly #closed = new AbortController();

  constructor(private readonly connection: EsdbConnection) {}

  read(stream: string, options: { readonly from?: bigint } = {}): Promise<readonly RecordedEvent[]> {
    const range = { direction: FORWARDS, fromRevision: options.from ?? START } as const;
    return withSpan(`read ${categoryOf(stream)}`, CLIENT, () => this.readStream(stream, range));
  }

  async readLast(stream: string, count: number): Promise<readonly RecordedEvent[]> {
    const range = { direction: BACKWARDS, fromRevision: END, maxCount: count } as const;
    const newestFirst = await withSpan(`read ${categoryOf(stream)}`, CLIENT, () =>
      this.readStream(stream, range),
    );
    return newestFirst.toReversed();
  }

  private async readStream(stream: string, range: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    const options = { ...range, ...this.connection.call };
    try {
      const items = await this.ask((open, timeoutMs) =>
        collect(open.client.readStream(stream, options), open, timeoutMs),
      );
      return items.flatMap(({ event, commitPosition }) =>
        event === undefined ? [] : [toRecorded(event, commitPosition)],
      );
    } catch (error) {
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return [];
      throw error;
    }
  }

  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<Appended> {
    return withSpan(`append ${categoryOf(stream)}`, CLIENT, () =>
      this.appendEvents(stream, events, expected),
    );
  }

  private async appendEvents(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<Appended> {
    const { revision, position } = await appendToStream(this.connection, stream, events, expected);
    return { revision, position: position ?? (await this.positionOf(stream, revision)) };
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionItem, void, undefined> {
    if (options.categories.length === 0) throw new Error('A subscription needs a category.');
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    try {
      yield* this.follow({ ...options, signal });
    } catch (error) {
      if (!signal.aborted) throw mapLogError(error);
    }
  }

  /** Begins another subscription after the last item when one ends without an error. */
  private async *follow(options: SubscribeOptions): AsyncGenerator<SubscriptionItem, void, undefined> {
    const { signal } = options;
    let { from } = options;
    while (!signal.aborted) {
      const head = await this.head();
      if (from !== 'start' && from > (head ?? -1n)) throw new PositionBeyondLog(from, head);
      for await (const item of followOnce(this.connection, { ...options, from }, head)) {
        if (item.kind === 'event') from = item.event.position;
        if (item.kind === 'checkpoint') from = item.position;
        yield item;
      }
    }
  }

  head(): Promise<bigint | null> {
    return this.ask((open, timeoutMs) => lastPosition(open, this.connection.call, timeoutMs));
  }

  async eventAt(position: bigint): Promise<RecordedEvent | null> {
    const fromPosition = { commit: position, prepare: position };
    const range = { direction: FORWARDS, fromPosition, maxCount: 1, ...this.connection.call } as const;
    try {
      const [found] = await this.ask((open, timeoutMs) =>
        collect(open.client.readAll(range), open, timeoutMs),
      );
      const event = found?.event && toRecorded(found.event, found.commitPosition);
      return event?.position === position ? event : null;
    } catch (error) {
      if (isInvalidPosition(error)) return null;
      throw error;
    }
  }

  async ping(): Promise<void> {
    // The call continues after the time-out, so that a dead connection is noticed.
    await withinTime(this.head(), PING_MS, this.#closed.signal).catch((error: unknown) => {
      throw mapLogError(error);
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.connection.calls.close(), this.connection.feeds.close()]);
  }

  /** Repeats a read until it succeeds or times out. */
  private ask<T>(question: (open: EsdbClient, timeoutMs: number) => Promise<T>): Promise<T> {
    return withRetries(({ attemptMs }) => this.connection.calls.call((open) => question(open, attemptMs)));
  }

  /** Some servers omit the position in the response to a repeated append. */
  private async positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await this.read(stream, { from: revision });
    if (event === undefined) throw new Error(`${stream} has no event ${revision} that was just appended.`);
    return event.position;
  }
}
