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

/** How much of the log stays at the broker for consumers that come late; the log itself keeps everything. */
export interface Retention {
  /** Older messages go, the last one and what a consumer still needs stay. Default 7 days. */
  readonly maxAgeMs?: number;
  /** The oldest go beyond this many. Default 1,000,000. */
  readonly maxMessages?: number;
}

/** Where a stream ends. */
export interface StreamEnd {
  readonly sequence: number;
  /** The event of the last message; null when there is none. */
  readonly last: LogMark | null;
}

const API_TIMEOUT_MS = 4_000;
// Expected sequences keep publishing exact. The broker's own window is short, because it forgets a purge too slowly:
// what is published again after one would be taken for a duplicate.
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

  /** Makes the stream if it is not there, and keeps its limits and replicas as configured. */
  ensure(retention: Retention): Promise<StreamInfo> {
    const max_msgs = retention.maxMessages ?? 1_000_000;
    return ensureStream(this.manager, this.link, { ...this.#config(), max_msgs });
  }

  /** null when the stream does not exist. */
  find(): Promise<StreamInfo | null> {
    return findStream(this.manager, this.name);
  }

  async end(): Promise<StreamEnd> {
    const { state } = await this.manager.streams.info(this.name);
    const last = state.messages === 0 ? null : await this.message(state.last_seq);
    return { sequence: state.last_seq, last: markOf(last?.header) };
  }

  /** Removes every message; sequences go on where they were. */
  async empty(): Promise<void> {
    await this.manager.streams.purge(this.name);
  }

  /** null when there is none at that sequence. */
  async message(sequence: number): Promise<StoredMsg | null> {
    // Sequences begin at 1; asked for an earlier one, the broker finds fault with the question.
    if (sequence < 1) return null;
    try {
      return await this.manager.streams.getMessage(this.name, { seq: sequence });
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.NoMessageFound)) return null;
      throw error;
    }
  }

  /** null when the consumer does not exist. */
  async consumer(durable: string): Promise<ConsumerInfo | null> {
    try {
      return await this.manager.consumers.info(this.name, durable);
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound))
        return null;
      throw error;
    }
  }

  /** Removes a consumer; one that is gone already is fine. */
  async removeConsumer(durable: string): Promise<void> {
    try {
      await this.manager.consumers.delete(this.name, durable);
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.ConsumerNotFound, JetStreamApiCodes.StreamNotFound))
        throw error;
    }
  }

  /**
   * Removes consumers that remember more than the stream has: it lost its tail, and they would never get what is
   * published below their floor. Their owners make them anew.
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

  /** The first sequence from `state.first_seq` on whose message satisfies `wanted`, which must stay true from there. */
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

  /** Lets go of old messages: never the last one, nor what a consumer has not acknowledged. */
  async trim(retention: Retention): Promise<number> {
    const info = await this.manager.streams.info(this.name);
    if (info.state.messages <= 1) return 0;
    const cutoff = Date.now() - (retention.maxAgeMs ?? 7 * 86_400_000);
    let keepFrom = await this.firstWhere(info, (message) => message.time.getTime() >= cutoff);
    for await (const consumer of this.manager.consumers.list(this.name)) {
      keepFrom = Math.min(keepFrom, consumer.ack_floor.stream_seq + 1);
    }
    keepFrom = Math.min(keepFrom, info.state.last_seq);
    if (keepFrom <= info.state.first_seq) return 0;
    return (await this.manager.streams.purge(this.name, { seq: keepFrom })).purged;
  }

  #config(): Partial<StreamConfig> & { readonly name: string } {
    return {
      name: this.name,
      subjects: [this.link.names.subject(allEventsOf(this.context))],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
    };
  }
}

/** Whether a consumer remembers more than a stream that ends at `sequence` can have told it. */
export const isBeyond = (consumer: ConsumerInfo, sequence: number): boolean =>
  consumer.delivered.stream_seq > sequence || consumer.ack_floor.stream_seq > sequence;
