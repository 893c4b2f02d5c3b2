import {
  DiscardPolicy,
  JetStreamApiCodes,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type ConsumerInfo,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { markOf } from './event-headers.js';
import { allEventsOf } from './event-subject.js';
import { isApiError } from './jetstream-errors.js';
import type { LogMark } from './log-mark.js';
import type { NatsLink } from './nats-link.js';
import { ensureStream, findStream } from './replicated-stream.js';
import { isGap, lackOf } from './stream-gap.js';

/** How much of the log the broker keeps for late consumers; the log itself keeps everything. */
export interface Retention {
  /** Removes older messages, except the last one and those that a consumer still needs. Default 7 days. */
  readonly maxAgeMs?: number;
  /** Removes the oldest messages beyond this number, with the same exceptions. Default 1,000,000. */
  readonly maxMessages?: number;
}

/** The end of a stream. */
export interface StreamEnd {
  readonly sequence: number;
  /** The event of the last message; null when there is none. */
  readonly last: LogMark | null;
}

const API_TIMEOUT_MS = 4_000;
// Expected sequences prevent duplicates. The broker's own deduplication window is short, because it outlasts a purge:
// messages published again after a purge would be dropped as duplicates.
export const DUPLICATE_WINDOW_MS = 1_000;

/** The JetStream stream of one context's events, and its consumers. */
export class EventStream {
  readonly name: string;
  readonly client: JetStreamClient;

  private constructor(
    private readonly context: string,
    private readonly manager: JetStreamManager,
    private readonly link: NatsLink,
  ) {
    this.name = link.names.eventStream(context);
    this.client = jetstream(link.connection, { timeout: API_TIMEOUT_MS });
  }

  static async of(link: NatsLink, context: string): Promise<EventStream> {
    const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: API_TIMEOUT_MS });
    return new EventStream(context, manager, link);
  }

  get consumers(): JetStreamManager['consumers'] {
    return this.manager.consumers;
  }

  /** Creates the stream if it is missing and applies the limits and the configured replicas. */
  ensure(): Promise<StreamInfo> {
    return ensureStream(this.manager, this.link, this.#config());
  }

  /** Returns null when the stream does not exist. */
  find(): Promise<StreamInfo | null> {
    return findStream(this.manager, this.name);
  }

  async end(): Promise<StreamEnd> {
    const { state } = await this.manager.streams.info(this.name);
    const last = state.messages === 0 ? null : await this.message(state.last_seq);
    return { sequence: state.last_seq, last: markOf(last?.header) };
  }

  /** Removes every message; the sequences continue. */
  async empty(): Promise<void> {
    await this.manager.streams.purge(this.name);
  }

  /** Returns null when there is no message at that sequence. */
  async message(sequence: number): Promise<StoredMsg | null> {
    // Sequences start at 1; the broker rejects earlier ones.
    return sequence < 1 ? null : this.#find({ seq: sequence });
  }

  async #find(query: { readonly seq: number; readonly next_by_subj?: string }): Promise<StoredMsg | null> {
    try {
      return await this.manager.streams.getMessage(this.name, query);
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.NoMessageFound)) return null;
      throw error;
    }
  }

  /** Returns null when the consumer does not exist. */
  async consumer(durable: string): Promise<ConsumerInfo | null> {
    try {
      return await this.manager.consumers.info(this.name, durable);
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound))
        return null;
      throw error;
    }
  }

  /** Removes a consumer if it exists. */
  async removeConsumer(durable: string): Promise<void> {
    try {
      await this.manager.consumers.delete(this.name, durable);
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound))
        throw error;
    }
  }

  /**
   * Removes consumers that are ahead of the stream: the stream lost its tail, and they would never receive events that
   * are published again at sequences which they have acknowledged. Their owners create them again.
   */
  async removeConsumersBeyond(sequence: number): Promise<readonly string[]> {
    const removed: string[] = [];
    for await (const consumer of this.manager.consumers.list(this.name)) {
      if (!isBeyond(consumer, sequence)) continue;
      await this.removeConsumer(consumer.name);
      removed.push(consumer.name);
    }
    return removed;
  }

  /** Returns the first sequence whose message satisfies `wanted`, by bisection: it must hold for all later ones. */
  async firstWhere({ state }: StreamInfo, wanted: (message: StoredMsg) => boolean): Promise<number> {
    let low = Math.max(1, state.first_seq);
    let high = state.last_seq + 1;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const message = await this.message(middle);
      if (message !== null && wanted(message)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Whether the stream lacks events of the log after `floor`; see `isGap`. */
  async lacksAfter(floor: LogMark | null, { state }: StreamInfo, unknown: boolean): Promise<boolean> {
    // The relay fills an empty stream anyway.
    const first = state.messages === 0 ? null : await this.message(state.first_seq);
    return first !== null && isGap(first, floor, unknown);
  }

  /** The mark after which all that consumers wait for is published again, null for the start of the log. */
  async lacking(): Promise<{ readonly after: LogMark | null; readonly consumers: readonly string[] }> {
    const consumers: string[] = [];
    let after: LogMark | null | undefined;
    for await (const consumer of this.manager.consumers.list(this.name)) {
      const lack = lackOf(consumer);
      if (lack === undefined) continue;
      // Its owner removes the description later than the relay fills the gap.
      if (!(await this.lacksAfter(lack, await this.manager.streams.info(this.name), true))) continue;
      consumers.push(consumer.name);
      const isLower =
        after === undefined || lack === null || (after !== null && lack.position < after.position);
      if (isLower) after = lack;
    }
    return { after: after ?? null, consumers };
  }

  /** The sequence of the first message that a consumer has not acknowledged; undefined if there is none. */
  async neededBy({ ack_floor, config }: ConsumerInfo): Promise<number | undefined> {
    const next = ack_floor.stream_seq + 1;
    // The floor stays at the last message that was delivered, however many others the filter has left out since.
    const { filter_subject: filter = '' } = config;
    if (filter === '') return next;
    return (await this.#find({ seq: next, next_by_subj: filter }))?.seq;
  }

  /** The sequence from which on consumers need messages; the one behind the last if they need none. */
  async needed(): Promise<number> {
    let from = (await this.manager.streams.info(this.name)).state.last_seq + 1;
    for await (const consumer of this.manager.consumers.list(this.name))
      from = Math.min(from, (await this.neededBy(consumer)) ?? from);
    return from;
  }

  /** Removes old messages, but never the last one, one that a consumer has not acknowledged, or one from `keepFrom` on. */
  async trim(retention: Retention, keepFrom = Number.MAX_SAFE_INTEGER): Promise<number> {
    const needed = await this.needed();
    const info = await this.manager.streams.info(this.name);
    const { messages, first_seq, last_seq } = info.state;
    if (messages <= 1) return 0;
    const cutoff = Date.now() - (retention.maxAgeMs ?? 7 * 86_400_000);
    const young = await this.firstWhere(info, (message) => message.time.getTime() >= cutoff);
    const excess = last_seq + 1 - (retention.maxMessages ?? 1_000_000);
    const seq = Math.min(Math.max(young, excess), needed, keepFrom, last_seq);
    if (seq <= first_seq) return 0;
    return (await this.manager.streams.purge(this.name, { seq })).purged;
  }

  #config(): Partial<StreamConfig> & { readonly name: string } {
    return {
      name: this.name,
      subjects: [this.link.names.subject(allEventsOf(this.context))],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      // A limit would remove what consumers still need; see `trim`.
      max_msgs: -1,
      discard: DiscardPolicy.Old,
      duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
    };
  }
}

/** Whether a consumer is ahead of a stream that ends at `sequence`. */
export const isBeyond = (consumer: ConsumerInfo, sequence: number): boolean =>
  consumer.delivered.stream_seq > sequence || consumer.ack_floor.stream_seq > sequence;
