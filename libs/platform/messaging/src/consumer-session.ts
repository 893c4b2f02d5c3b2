import { NotReady } from '@berth/supervision';
import { metrics } from '@berth/telemetry';
import {
  AckPolicy,
  DeliverPolicy,
  type Consumer,
  type ConsumerInfo,
  type StreamInfo,
} from '@nats-io/jetstream';
import { ACK_WAIT_MS, EventHandling } from './event-handling.js';
import type { EventConsumerOptions } from './event-consumer-options.js';
import { commonFilter } from './event-subject.js';
import type { DeadLetters } from './dead-letters.js';
import { markOf, positionOf } from './event-headers.js';
import { isBeyond, type EventStream } from './event-stream.js';
import { ProcessedEvents } from './processed-events.js';
import type { ProcessedEventsFloor } from './processed-events-floor.js';
import { isMissingFromLog } from './log-mark.js';
import { lackNote, lackOf } from './stream-gap.js';

/** The configured time, in the unit of the broker: nanoseconds. */
const ACK_WAIT_NS = ACK_WAIT_MS * 1_000_000;
/** A consumer that a new version no longer has would keep messages in the stream for ever. In nanoseconds. */
const UNUSED_FOR_NS = 30 * 86_400_000 * 1_000_000;
const SETTINGS = { ack_wait: ACK_WAIT_NS, inactive_threshold: UNUSED_FOR_NS };
const FETCH_MESSAGES = 64;
const FLOOR_EVERY_MS = 10_000;
/** An idle consumer wakes up only to raise its floor: shorter fetches cost processor time around the clock. */
const FETCH_EXPIRES_MS = FLOOR_EVERY_MS;
const PRUNE_EVERY_MS = 3_600_000;

const recreated = metrics.counter(
  'berth_consumers_made_anew',
  'Consumers created again after the broker lost something.',
  ['durable'],
);

/** One session of a consumer, from ensuring its durable to the first unexpected condition. */
export class ConsumerSession {
  readonly #filter: string;
  readonly #processed: ProcessedEvents;
  readonly #handling: EventHandling;
  #prunedAt = 0;
  #floorAt = Date.now();
  /** The state of stream and consumer by which the floor was last raised. */
  #raisedBy = '';

  constructor(
    private readonly options: EventConsumerOptions,
    private readonly stream: EventStream,
    private readonly floor: ProcessedEventsFloor,
    deadLetters: DeadLetters,
  ) {
    this.#processed = new ProcessedEvents(options, floor);
    this.#filter = options.link.names.subject(commonFilter(options.filterSubjects));
    this.#handling = new EventHandling(options, this.#processed, deadLetters);
  }

  /** Returns when `signal` aborts; throws when the session must start over. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#requireSameLog();
    await this.floor.load();
    const consumer = await this.#consumer();
    while (!signal.aborted) {
      await this.#fetch(consumer, signal);
      await this.#maintain();
    }
    await this.#raiseFloor();
  }

  // Until the relay has filled it again, a stream may hold events of an earlier log, which are not in this one.
  async #requireSameLog(): Promise<void> {
    if ((await this.stream.find()) === null) return;
    const { last } = await this.stream.end();
    if (last !== null && (await isMissingFromLog(this.options.store, last)))
      throw new Error(`The stream ${this.stream.name} holds events that the log does not have.`);
  }

  async #fetch(consumer: Consumer, signal: AbortSignal): Promise<void> {
    const messages = await consumer.fetch({ max_messages: FETCH_MESSAGES, expires: FETCH_EXPIRES_MS });
    const stop = (): void => messages.stop();
    signal.addEventListener('abort', stop, { once: true });
    const unlisten = this.options.link.onDisconnect(stop);
    try {
      for await (const message of messages) {
        if (signal.aborted) message.nak();
        else await this.#handling.take(message, signal);
      }
    } finally {
      unlisten();
      signal.removeEventListener('abort', stop);
    }
  }

  /** Ensures the durable: creates it again when it is gone, has other filters, or is ahead of the stream. */
  async #consumer(): Promise<Consumer> {
    const { durable, log } = this.options;
    const stream = await this.stream.find();
    // In a new installation, a consumer can start before the context's relay has created the stream.
    if (stream === null) throw new NotReady(`There is no stream ${this.stream.name} yet.`);
    const found = await this.stream.consumer(durable);
    await this.#requireNoGap(found, stream);
    if (found === null) {
      await this.#create(stream);
    } else if (!this.#isUsable(found, stream)) {
      log.warn(
        { durable, floor: found.ack_floor.stream_seq, last: stream.state.last_seq },
        'Creating the consumer again.',
      );
      await this.stream.removeConsumer(durable);
      await this.#create(stream);
    } else if (found.config.ack_wait !== ACK_WAIT_NS || found.config.inactive_threshold !== UNUSED_FOR_NS) {
      await this.stream.consumers.update(this.stream.name, durable, SETTINGS);
    }
    return this.stream.client.consumers.get(this.stream.name, durable);
  }

  /**
   * Tells the relay, by the consumer's description, what the stream lacks, and waits: what is left in the stream is later
   * than what is missing.
   */
  async #requireNoGap(found: ConsumerInfo | null, stream: StreamInfo): Promise<void> {
    if (!(await this.#hasGap(found, stream))) return;
    const note = lackNote(this.floor.mark);
    if (found?.config.description !== note) {
      const { durable, log } = this.options;
      log.error({ durable, note }, 'The stream lost events that the consumer has not handled.');
      await this.stream.removeConsumer(durable);
      await this.#create(stream, note);
    }
    throw new NotReady(
      `The stream ${this.stream.name} lacks events until its relay has published them again.`,
    );
  }

  async #hasGap(found: ConsumerInfo | null, stream: StreamInfo): Promise<boolean> {
    const { mark } = this.floor;
    const isNoted = found !== null && lackOf(found) !== undefined;
    // A consumer without a floor has handled nothing, and begins where it was created.
    if (mark === null && !isNoted && (found?.config.opt_start_seq ?? Infinity) >= stream.state.first_seq)
      return false;
    return this.stream.lacksAfter(mark, stream, found === null || isNoted);
  }

  #isUsable(found: ConsumerInfo, stream: StreamInfo): boolean {
    const { filter_subject } = found.config;
    const isNoted = lackOf(found) !== undefined;
    return !isBeyond(found, stream.state.last_seq) && filter_subject === this.#filter && !isNoted;
  }

  async #create(stream: StreamInfo, description?: string): Promise<void> {
    const { durable } = this.options;
    const floor = this.floor.mark?.position ?? null;
    if (floor !== null) recreated.inc({ durable });
    const start =
      floor === null
        ? stream.state.first_seq
        : await this.stream.firstWhere(
            stream,
            (message) => (positionOf(message.header) ?? floor + 1n) > floor,
          );
    await this.stream.consumers.add(this.stream.name, {
      durable_name: durable,
      ...(description === undefined ? {} : { description }),
      ack_policy: AckPolicy.Explicit,
      ...SETTINGS,
      // This service bounds the deliveries: the broker would drop an event silently.
      max_deliver: -1,
      max_ack_pending: 1_000,
      filter_subject: this.#filter,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, start),
    });
  }

  async #maintain(): Promise<void> {
    if (Date.now() - this.#floorAt >= FLOOR_EVERY_MS) await this.#raiseFloor();
    if (Date.now() - this.#prunedAt < PRUNE_EVERY_MS) return;
    this.#prunedAt = Date.now();
    await this.#processed.prune();
  }

  // Everything below this position is handled. The floor survives a loss of the broker and allows pruning old rows.
  async #raiseFloor(): Promise<void> {
    this.#floorAt = Date.now();
    const before = await this.stream.find();
    const consumer = await this.stream.consumer(this.options.durable);
    if (before === null || consumer === null || isBeyond(consumer, before.state.last_seq)) {
      throw new Error('The broker lost the consumer or its progress.');
    }
    const { created, state } = before;
    const by = [created, state.first_seq, state.last_seq, consumer.ack_floor.stream_seq].join(' ');
    if (by === this.#raisedBy) return;
    if (await this.#hasGap(consumer, before))
      throw new Error('The stream lost events that the consumer has not handled.');
    const needed = (await this.stream.neededBy(consumer)) ?? state.last_seq + 1;
    const mark = markOf((await this.stream.message(Math.min(needed - 1, state.last_seq)))?.header);
    const after = await this.stream.find();
    // A stream that was created again in the meantime has other messages at the same sequences; where some were removed,
    // the broker may count them as acknowledged.
    if (after?.created !== created || after.state.first_seq !== state.first_seq) return;
    if (mark !== null) await this.floor.raise(mark);
    this.#raisedBy = by;
  }
}
