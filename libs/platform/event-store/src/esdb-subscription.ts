import {
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
} from '@eventstore/db-client';
import type { Readable } from 'node:stream';
import type { EsdbConnection } from './esdb-connection.js';
import { toRecorded } from './esdb-records.js';
import type { SubscribeOptions, SubscriptionItem } from './event-store.js';

/** How many events wait in memory for a slow reader, twice: as they came and as they are read. */
const BUFFERED = 256;
/** The server says how far it looked after this many events that nobody wants. */
const SEARCH_WINDOW = 128;

type Feed = AllStreamSubscription & Readable;
type Raw = AllStreamResolvedEvent | SubscriptionItem;

/** One subscription, until it breaks (throws) or `signal` aborts (ends). */
export async function* followOnce(
  connection: EsdbConnection,
  { from, categories, signal }: SubscribeOptions,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const feed = open(connection, from, categories);
  const state = new FeedState(feed, signal);
  try {
    while (!state.over) {
      const raw = feed.read() as Raw | null;
      if (raw === null) await state.more();
      else if ('kind' in raw) yield raw;
      else if (raw.event !== undefined)
        yield { kind: 'event', event: toRecorded(raw.event, raw.commitPosition) };
    }
    state.throwIfBroken();
  } finally {
    state.stop();
    // Breaking off the iteration alone would leave the call open on the server.
    feed.unsubscribe().catch(() => undefined);
    feed.destroy();
  }
}

const open = (connection: EsdbConnection, from: bigint | 'start', categories: readonly string[]): Feed => {
  const filter = streamNameFilter({
    prefixes: categories.map((category) => `${category}-`),
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    // In line with the events, so that no checkpoint overtakes what it covers.
    checkpointReached: (_, { commit }) => tell({ kind: 'checkpoint', position: commit }),
  });
  const feed: Feed = connection.feeds.subscribeToAll(
    {
      fromPosition: from === 'start' ? 'start' : { commit: from, prepare: from },
      filter,
      credentials: connection.credentials,
    },
    { highWaterMark: BUFFERED },
  ) as Feed;
  const tell = (item: SubscriptionItem): void => {
    if (!feed.destroyed) feed.push(item);
  };
  feed.on('caughtUp', () => tell({ kind: 'caughtUp' }));
  return feed;
};

/** Whether there is more to come, and a way to wait for it. */
class FeedState {
  #error: Error | undefined;
  #ended = false;
  #wake: () => void = () => undefined;
  readonly #onChange = (): void => this.#wake();

  constructor(
    private readonly feed: Feed,
    private readonly signal: AbortSignal,
  ) {
    feed.on('readable', this.#onChange);
    feed.on('end', () => this.#finish());
    feed.on('close', () => this.#finish());
    // The client reports a failure once and stays open; this listener stays on for late ones.
    feed.on('error', (error: Error) => this.#finish(error));
    signal.addEventListener('abort', this.#onChange, { once: true });
  }

  get over(): boolean {
    return this.#ended || this.signal.aborted;
  }

  /** Resolves when there may be something to read, or the feed is over. */
  async more(): Promise<void> {
    if (this.over || this.feed.readableLength > 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  throwIfBroken(): void {
    if (!this.signal.aborted) throw this.#error ?? new Error('The subscription ended.');
  }

  stop(): void {
    this.feed.off('readable', this.#onChange);
    this.signal.removeEventListener('abort', this.#onChange);
  }

  #finish(error?: Error): void {
    this.#error ??= error;
    this.#ended = true;
    this.#wake();
  }
}
