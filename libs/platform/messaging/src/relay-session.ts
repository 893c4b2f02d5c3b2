import type { RecordedEvent } from '@berth/event-store';
import { metrics } from '@berth/telemetry';
import { eventHeaders } from './event-headers.js';
import type { EventRelayOptions } from './event-relay-options.js';
import { allEventsOf, matchesFilter, parseEventSubject } from './event-subject.js';
import type { EventStream, StreamEnd } from './event-stream.js';
import { RelayCheckpoint, type RelayProgress } from './relay-checkpoint.js';
import { RelayPublisher, StreamMoved } from './relay-publisher.js';

const WATCH_EVERY_MS = 2_000;
const TRIM_EVERY_MS = 10 * 60_000;

const lost = metrics.counter(
  'berth_relay_lost_tails',
  'Streams that had lost messages and were filled again.',
  ['context'],
);
const published = metrics.counter('berth_relay_published', 'Events published.', ['context']);

/** One stretch of relaying, from reading where the stream ends to the first thing that is not as expected. */
export class RelaySession {
  readonly #checkpoint: RelayCheckpoint;
  readonly #stop = new AbortController();
  #scanned: bigint | null = null;
  #written: RelayProgress = { published: null, scanned: null };
  #trimmedAt = Date.now();

  constructor(
    private readonly stream: EventStream,
    private readonly options: EventRelayOptions,
  ) {
    this.#checkpoint = new RelayCheckpoint(options.database, options.context);
  }

  /** Ends normally when `held` aborts; throws when it has to start over. */
  async run(held: AbortSignal): Promise<void> {
    const { link } = this.options;
    await this.stream.ensure(this.options.retention ?? {});
    const end = await this.stream.end();
    const from = await this.#whereToGoOn(end);
    const publisher = new RelayPublisher(this.stream.client, end, (error) => this.#stop.abort(error));
    const watch = (): void => void this.#watch(publisher).catch((error: unknown) => this.#stop.abort(error));
    const watcher = setInterval(watch, WATCH_EVERY_MS);
    const unlisten = link.onReconnect(watch);
    try {
      await this.#relay(publisher, from, AbortSignal.any([held, this.#stop.signal]));
    } finally {
      clearInterval(watcher);
      unlisten();
    }
    await publisher.settle();
    if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
    await this.#save(publisher);
  }

  async #whereToGoOn(end: StreamEnd): Promise<bigint | 'start'> {
    const { context, log } = this.options;
    const removed = await this.stream.removeConsumersBeyond(end.sequence);
    const before = await this.#checkpoint.read();
    const tailIsLost =
      before.published !== null && (end.position === null || end.position < before.published);
    if (tailIsLost || removed.length > 0) {
      lost.inc({ context });
      log.error(
        { context, has: String(end.position), had: String(before.published), consumers: removed },
        'The stream lost messages; what is missing is published again from the log.',
      );
    }
    this.#scanned = tailIsLost ? end.position : larger(end.position, before.scanned);
    return this.#scanned ?? 'start';
  }

  async #relay(publisher: RelayPublisher, from: bigint | 'start', signal: AbortSignal): Promise<void> {
    const { store, categories } = this.options;
    for await (const item of store.subscribe({ from, categories, signal })) {
      if (signal.aborted) return;
      if (item.kind === 'event') {
        await this.#publish(publisher, item.event);
        this.#scanned = item.event.position;
      } else if (item.kind === 'checkpoint') this.#scanned = item.position;
    }
  }

  async #publish(publisher: RelayPublisher, event: RecordedEvent): Promise<void> {
    const { context, toContractEvent } = this.options;
    const contractEvent = toContractEvent(event);
    if (contractEvent === null) return;
    const { subject, payload } = contractEvent;
    if (parseEventSubject(subject) === undefined || !matchesFilter(allEventsOf(context), subject)) {
      throw new Error(`${event.type} became ${subject}, which is no event of ${context}.`);
    }
    await publisher.publish({
      id: event.id,
      subject: this.options.link.names.subject(subject),
      data: JSON.stringify(payload),
      headers: eventHeaders(event),
      position: event.position,
    });
    published.inc({ context });
  }

  // An emptied stream tells nobody: the relay looks, also when nothing is to be published.
  async #watch(publisher: RelayPublisher): Promise<void> {
    if (!this.options.link.connected || this.#stop.signal.aborted) return;
    if (publisher.inFlight === 0) {
      const expected = publisher.sequence;
      const info = await this.stream.find();
      const emptied = info?.state.messages === 0 && publisher.acknowledged !== null;
      const moved =
        info?.state.last_seq !== expected && publisher.inFlight === 0 && publisher.sequence === expected;
      if (info === null || emptied || moved)
        throw new StreamMoved('The stream is not where the relay left it.');
    }
    await this.#save(publisher);
    if (Date.now() - this.#trimmedAt < TRIM_EVERY_MS) return;
    this.#trimmedAt = Date.now();
    await this.stream.trim(this.options.retention ?? {});
  }

  async #save(publisher: RelayPublisher): Promise<void> {
    // After a failure nothing is in flight either, and `scanned` is past what was not stored.
    if (this.#stop.signal.aborted) return;
    const acknowledged = publisher.acknowledged;
    const scanned = publisher.inFlight === 0 ? this.#scanned : acknowledged;
    if (this.#written.published === acknowledged && this.#written.scanned === scanned) return;
    await this.#checkpoint.write({ published: acknowledged, scanned });
    this.#written = { published: acknowledged, scanned };
  }
}

const larger = (a: bigint | null, b: bigint | null): bigint | null => {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
};
