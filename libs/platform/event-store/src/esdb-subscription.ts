import {
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
} from '@eventstore/db-client';
import type { Readable } from 'node:stream';
import type { EsdbConnection } from './esdb-connection.js';
import type { EsdbClient } from './leader-connection.js';
import { toRecorded } from './esdb-records.js';
import type { SubscribeOptions, SubscriptionItem } from './event-store.js';

/** Events buffered in memory for a slow reader; the client and the feed have one such buffer each. */
const BUFFERED = 256;
/** The server sends a checkpoint after this many events that do not match the filter. */
const SEARCH_WINDOW = 128;

/** The checkpoint (position -1) that EventStoreDB 24.6 sends when nothing in a short log matched the filter. */
const NOTHING_SENT = 2n ** 64n - 1n;

/** After that checkpoint the server sends no others to this subscription, so a new subscription replaces it. */
const RENEW_MS = 60_000;

type Feed = AllStreamSubscription & Readable;
type Raw = AllStreamResolvedEvent | SubscriptionItem;

/**
 * One subscription, until it breaks (throws) or `signal` aborts (ends). `head`: the end of the log before it began.
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
        // The server sends no checkpoint at the end of the log; only the head that was read before shows how far it
        // searched.
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
    // Ending the iteration alone would leave the call open on the server.
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
    // Queued with the events, so that no checkpoint overtakes the events it covers.
    checkpointReached: (_, { commit }) => enqueue({ kind: 'checkpoint', position: commit }),
  });
  const feed: Feed = client.subscribeToAll(
    {
      fromPosition: from === 'start' ? 'start' : { commit: from, prepare: from },
      filter,
      ...connection.call,
    },
    { highWaterMark: BUFFERED },
  ) as Feed;
  const enqueue = (item: SubscriptionItem): void => {
    if (!feed.destroyed) feed.push(item);
  };
  feed.on('caughtUp', () => enqueue({ kind: 'caughtUp' }));
  return feed;
};

/** Reports whether the feed has ended, and waits for more items. */
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
    // The client may report failures late; without this listener they would end the process.
    feed.on('error', (error: Error) => this.#finish(error));
    signal.addEventListener('abort', this.#onChange, { once: true });
  }

  get over(): boolean {
    return this.#ended || this.signal.aborted;
  }

  /** Resolves when there may be something to read or the feed is over. */
  async more(): Promise<void> {
    if (this.over || this.feed.readableLength > 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Ends the feed after this time, without an error. */
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
