import {
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
} from '@eventstore/db-client';
import type { Readable } from 'node:stream';
import type { EsdbConnection } from './esdb-connection.js';
import type { EsdbClient } from './esdb-line.js';
import { toRecorded } from './esdb-records.js';
import type { SubscribeOptions, SubscriptionItem } from './event-store.js';

/** How many events wait in memory for a slow reader, twice: as they came and as they are read. */
const BUFFERED = 256;
/** The server says how far it looked after this many events that nobody wants. */
const SEARCH_WINDOW = 128;

/** What EventStoreDB 24.6 sends as a checkpoint (position -1) when a short log held nothing for the subscription. */
const NOTHING_SENT = 2n ** 64n - 1n;

/** After that the server sends this subscription no other checkpoint, so it makes room for one that gets them. */
const RENEW_MS = 60_000;

type Feed = AllStreamSubscription & Readable;
type Raw = AllStreamResolvedEvent | SubscriptionItem;

/**
 * One subscription, until it breaks (throws) or `signal` aborts (ends). `head`: where the log ended before it began.
 */
export async function* followOnce(
  connection: EsdbConnection,
  { from, categories, signal }: SubscribeOptions,
  head: bigint | null,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  const client = connection.feeds.current;
  const feed = open(connection, client, from, categories);
  const state = new FeedState(feed, AbortSignal.any([signal, client.gone]));
  const unwatch = connection.feedWatch.add(() => feed.readableLength > 0);
  let ahead = head;
  try {
    while (!state.over) {
      const raw = feed.read() as Raw | null;
      if (raw === null) {
        await state.more();
        continue;
      }
      client.heard();
      const item = toItem(raw);
      if (item === undefined) continue;
      if (item.kind === 'checkpoint' && item.position === NOTHING_SENT) {
        state.endIn(RENEW_MS);
        continue;
      }
      if (ahead !== null && item.kind === 'caughtUp') {
        // The server sends no checkpoint at the end of the log, so this is the only way to learn how far it looked.
        yield { kind: 'checkpoint', position: ahead };
        ahead = null;
      } else if (ahead !== null && positionOf(item) >= ahead) ahead = null;
      yield item;
    }
    if (!signal.aborted) state.throwIfBroken();
  } catch (error) {
    connection.feeds.failed(client, error);
    throw error;
  } finally {
    unwatch();
    state.stop();
    // Breaking off the iteration alone would leave the call open on the server.
    feed.unsubscribe().catch(() => undefined);
    feed.destroy();
  }
}

const toItem = (raw: Raw): SubscriptionItem | undefined => {
  if ('kind' in raw) return raw;
  return raw.event && { kind: 'event', event: toRecorded(raw.event, raw.commitPosition) };
};

const positionOf = (item: SubscriptionItem): bigint => {
  if (item.kind === 'caughtUp') return -1n;
  return item.kind === 'event' ? item.event.position : item.position;
};

const open = (
  connection: EsdbConnection,
  { client }: EsdbClient,
  from: bigint | 'start',
  categories: readonly string[],
): Feed => {
  const filter = streamNameFilter({
    prefixes: categories.map((category) => `${category}-`),
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    // In line with the events, so that no checkpoint overtakes what it covers.
    checkpointReached: (_, { commit }) => tell({ kind: 'checkpoint', position: commit }),
  });
  const feed: Feed = client.subscribeToAll(
    {
      fromPosition: from === 'start' ? 'start' : { commit: from, prepare: from },
      filter,
      ...connection.call,
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
  #timer: NodeJS.Timeout | undefined;
  #renewed = false;
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

  /** Ends the feed, as nothing that failed, when it has lived for so long. */
  endIn(millis: number): void {
    this.#timer ??= setTimeout(() => {
      this.#renewed = true;
      this.#finish();
    }, millis).unref();
  }

  throwIfBroken(): void {
    if (!this.#renewed) throw this.#error ?? new Error('The subscription ended.');
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.feed.off('readable', this.#onChange);
    this.signal.removeEventListener('abort', this.#onChange);
  }

  #finish(error?: Error): void {
    this.#error ??= error;
    this.#ended = true;
    this.#wake();
  }
}
