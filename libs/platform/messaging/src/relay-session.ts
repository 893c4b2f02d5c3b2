import type { RecordedEvent } from '@berth/event-store';
import { isDomainError } from '@berth/kernel';
import { metrics } from '@berth/telemetry';
import type { StreamInfo } from '@nats-io/jetstream';
import { eventHeaders } from './event-headers.js';
import type { EventRelayOptions } from './event-relay-options.js';
import { allEventsOf, matchesFilter, parseEventSubject } from './event-subject.js';
import type { EventStream, StreamEnd } from './event-stream.js';
import { isInLog, isMissingFromLog, type LogMark } from './log-mark.js';
import { RelayCheckpoint, type RelayProgress } from './relay-checkpoint.js';
import { RelayPublisher, StreamMoved } from './relay-publisher.js';
import { wantedReplicas } from './replicated-stream.js';

const WATCH_EVERY_MS = 2_000;
const COMPARE_EVERY_MS = 10_000;
const TRIM_EVERY_MS = 10 * 60_000;

const lost = metrics.counter(
  'berth_relay_lost_tails',
  'Streams that had lost messages and were filled again.',
  ['context'],
);
const published = metrics.counter('berth_relay_published', 'Events published.', ['context']);

const replaced = metrics.counter(
  'berth_relay_replaced_logs',
  'Streams that held events which the log does not have, and were filled again.',
  ['context'],
);

const gaps = metrics.counter(
  'berth_relay_gaps',
  'Streams that lacked events which consumers had not handled, and were filled again.',
  ['context'],
);

/** How far the log was read: up to an event, or up to a checkpoint, which has no event id. */
interface Scanned {
  readonly position: bigint;
  readonly eventId: string | null;
}

const NOTHING = { published: null, scanned: null };

/** One session of a relay, from reading the end of the stream to the first unexpected condition. */
export class RelaySession {
  readonly #checkpoint: RelayCheckpoint;
  readonly #stop = new AbortController();
  #scanned: Scanned | null = null;
  /** The position of the last event that was published; where the session began before that. */
  #followed: bigint | null = null;
  #written: { readonly published: LogMark | null; readonly scanned: Scanned | null } = NOTHING;
  #trimmedAt = Date.now();
  #comparedAt = Date.now();
  /** From where on consumers needed messages when old ones were last removed. */
  #needed = 0;

  constructor(
    private readonly stream: EventStream,
    private readonly options: EventRelayOptions,
  ) {
    this.#checkpoint = new RelayCheckpoint(options.database, options.context);
  }

  /** Returns when `held` aborts; throws when the session must start over. */
  async run(held: AbortSignal): Promise<void> {
    const { link } = this.options;
    await this.stream.ensure();
    const end = await this.stream.end();
    const from = await this.#findStart(end);
    this.#followed = end.last?.position ?? (from === 'start' ? null : from);
    const publisher = new RelayPublisher(this.stream.client, end, (error) => this.#stop.abort(error));
    const watch = (): void => void this.#watch(publisher).catch((error: unknown) => this.#stop.abort(error));
    const watcher = setInterval(watch, WATCH_EVERY_MS);
    // Otherwise the loss of publications in flight would be noticed only when their acknowledgements time out.
    const unlisten = link.onDisconnect(() => this.#stop.abort(new Error('The broker was disconnected.')));
    try {
      await this.#relay(publisher, from, AbortSignal.any([held, this.#stop.signal]));
    } finally {
      clearInterval(watcher);
      unlisten();
    }
    if (!this.#stop.signal.aborted) await publisher.settle();
    if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
    // Saves only what needs no read from the log: a stop must not wait for a frozen log.
    if (this.#scanned?.eventId !== null) await this.#save(publisher);
  }

  async #findStart(end: StreamEnd): Promise<bigint | 'start'> {
    const { context, log } = this.options;
    await this.#requireSameLog(end.last);
    await this.#fillGap();
    const removed = await this.stream.removeConsumersBeyond(end.sequence);
    const before = await this.#knownToLog(await this.#checkpoint.read());
    const tailIsLost =
      before.published !== null && (end.last === null || end.last.position < before.published.position);
    if (tailIsLost || removed.length > 0) {
      lost.inc({ context });
      log.error(
        {
          context,
          has: String(end.last?.position ?? null),
          had: String(before.published?.position ?? null),
          consumers: removed,
        },
        'The stream lost messages; publishing the missing ones again from the log.',
      );
    }
    this.#scanned = tailIsLost ? end.last : later(end.last, before.scanned);
    return this.#scanned?.position ?? 'start';
  }

  /** Empties a stream with events that this log does not have; it is then filled again from the start of the log. */
  async #requireSameLog(last: LogMark | null): Promise<void> {
    const { store, context, log } = this.options;
    if (last === null || !(await isMissingFromLog(store, last))) return;
    replaced.inc({ context });
    log.error(
      { context, stream: this.stream.name, position: String(last.position), eventId: last.eventId },
      'The stream holds events that the log does not have: the log was replaced or restored from a backup. The stream is emptied and filled again from the log.',
    );
    await this.stream.empty();
    throw new StreamMoved('The stream held events of another log.');
  }

  /** Empties a stream that lacks events which consumers wait for; it is then filled again from the first of them on. */
  async #fillGap(): Promise<void> {
    const { context, log } = this.options;
    const { after, consumers } = await this.stream.lacking();
    if (consumers.length === 0) return;
    gaps.inc({ context });
    log.error(
      { context, after: String(after?.position ?? null), consumers },
      'The stream no longer has events that consumers have not handled; publishing them again from the log.',
    );
    await this.#checkpoint.write({ published: null, scanned: after });
    await this.stream.empty();
    throw new StreamMoved('The stream lacked events.');
  }

  /** The checkpoint may belong to another log. It only saves reading, so it is ignored in case of doubt. */
  async #knownToLog({ published, scanned }: RelayProgress): Promise<RelayProgress> {
    const { store } = this.options;
    const known = async (mark: LogMark | null): Promise<LogMark | null> =>
      mark !== null && (await isInLog(store, mark)) ? mark : null;
    return { published: await known(published), scanned: await known(scanned) };
  }

  async #relay(publisher: RelayPublisher, from: bigint | 'start', signal: AbortSignal): Promise<void> {
    const { store, categories } = this.options;
    for await (const item of store.subscribe({ from, categories, signal })) {
      if (signal.aborted) return;
      if (item.kind === 'event') {
        await this.#publish(publisher, item.event);
        this.#scanned = { position: item.event.position, eventId: item.event.id };
      } else if (item.kind === 'checkpoint') this.#scanned = { position: item.position, eventId: null };
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
      headers: eventHeaders(event, this.#followed),
      position: event.position,
    });
    this.#followed = event.position;
    published.inc({ context });
  }

  // Nothing notifies the relay of an emptied stream, so it checks even when there is nothing to publish.
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
      await this.#raiseReplicas(info);
    }
    await this.#save(publisher);
    await this.#compare(publisher);
    if (Date.now() - this.#trimmedAt < TRIM_EVERY_MS) return;
    this.#trimmedAt = Date.now();
    // What has been unneeded since the last time is below the floor that each consumer has stored, not only its broker.
    await this.stream.trim(this.options.retention ?? {}, this.#needed);
    this.#needed = await this.stream.needed();
  }

  /**
   * Detects by the end of the stream that the log was replaced, and by the consumers that the stream lacks events, even
   * when there is nothing to publish.
   */
  async #compare({ acknowledged }: RelayPublisher): Promise<void> {
    if (acknowledged === null || Date.now() - this.#comparedAt < COMPARE_EVERY_MS) return;
    this.#comparedAt = Date.now();
    const { consumers } = await this.stream.lacking();
    if (consumers.length > 0) throw new StreamMoved('The stream lacks events that consumers wait for.');
    const missing = await isMissingFromLog(this.options.store, acknowledged).catch((error: unknown) => {
      // While the log is down nothing can be concluded.
      if (isDomainError(error, 'unavailable')) return false;
      throw error;
    });
    if (missing) throw new StreamMoved('The log does not have the last event of the stream any more.');
  }

  /** Adds replicas to a stream that was created while too few servers were up. */
  async #raiseReplicas({ config }: StreamInfo): Promise<void> {
    if (config.num_replicas >= wantedReplicas(this.options.link)) return;
    await this.stream.ensure();
  }

  async #save(publisher: RelayPublisher): Promise<void> {
    // After a failure nothing is in flight either, although `scanned` is past the events that were not stored.
    if (this.#stop.signal.aborted) return;
    const { acknowledged: published } = publisher;
    const scanned = publisher.inFlight === 0 ? this.#scanned : published;
    const { published: writtenPublished, scanned: writtenScanned } = this.#written;
    if (writtenPublished?.position === published?.position && writtenScanned?.position === scanned?.position)
      return;
    const marked = scanned === null ? null : await this.#marked(scanned);
    await this.#checkpoint.write({ published, scanned: marked });
    this.#written = { published, scanned };
  }

  /** Adds the event id to a checkpoint of the log, to distinguish the log from another one. */
  async #marked({ position, eventId }: Scanned): Promise<LogMark | null> {
    const id = eventId ?? (await this.options.store.eventAt(position))?.id;
    return id === undefined ? null : { position, eventId: id };
  }
}

const later = (a: LogMark | null, b: LogMark | null): LogMark | null => {
  if (a === null || b === null) return a ?? b;
  return a.position > b.position ? a : b;
};
