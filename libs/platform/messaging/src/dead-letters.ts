import { createHash } from 'node:crypto';
import { isDomainError } from '@berth/kernel';
import { metrics, redactText } from '@berth/telemetry';
import {
  DiscardPolicy,
  JetStreamApiCodes,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type JsMsg,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { headers as newHeaders, type MsgHdrs } from '@nats-io/transport-node';
import { EVENT_HEADERS } from './event-headers.js';
import { isApiError } from './jetstream-errors.js';
import type { NatsLink } from './nats-link.js';
import { ensureStream } from './replicated-stream.js';
import { HEADERS } from './request-wire.js';

/** A message that a consumer could not handle. */
export interface DeadLetter {
  readonly durable: string;
  /** Sequence in the dead-letter stream. */
  readonly sequence: number;
  readonly eventId: string;
  readonly subject: string;
  readonly reason: string;
  readonly deliveries: number;
  readonly at: Date;
  /** The payload as text. */
  readonly payload: string;
}

/** A stored dead letter, with the payload as bytes and the retained headers of its message. */
export interface StoredLetter extends DeadLetter {
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

const API_TIMEOUT_MS = 4_000;
const MAX_REASON_LENGTH = 300;

/** Headers of the event that are kept for a later replay. */
const KEPT_HEADERS = [
  EVENT_HEADERS.position,
  EVENT_HEADERS.recordedAt,
  HEADERS.requestId,
  'traceparent',
] as const;

const deadLettered = metrics.counter('berth_dead_letters', 'Events that a consumer could not handle.', [
  'context',
  'durable',
]);

/**
 * The dead letters of one consumer in the stream `<instance>_DLQ_<CONTEXT>`. The consumers of the context share the
 * stream. It keeps a letter until it is replayed or deleted; when the stream is full, it drops the oldest letters. Each
 * event of a consumer has its own subject, which holds only the latest letter.
 */
export class DeadLetters {
  readonly stream: string;

  private constructor(
    private readonly manager: JetStreamManager,
    private readonly link: NatsLink,
    private readonly context: string,
    private readonly durable: string,
  ) {
    this.stream = link.names.deadLetterStream(context);
  }

  static async of(link: NatsLink, context: string, durable: string): Promise<DeadLetters> {
    const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: API_TIMEOUT_MS });
    return new DeadLetters(manager, link, context, durable);
  }

  /** Creates the stream if it is missing and applies the configured replicas. */
  async ensure(): Promise<void> {
    await ensureStream(this.manager, this.link, {
      name: this.stream,
      subjects: [this.link.names.subject(`dlq.${this.context}.>`)],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_msgs: 100_000,
      max_msgs_per_subject: 1,
    });
  }

  /** Stores the message with the reason; resolves once the broker has acknowledged it. */
  async add(message: JsMsg, reason: unknown): Promise<void> {
    const eventId = message.headers?.get(EVENT_HEADERS.id) ?? '';
    const id = eventId === '' ? idFromPayload(message) : eventId;
    const headers = newHeaders();
    for (const name of KEPT_HEADERS) copy(message.headers, headers, name);
    headers.set(EVENT_HEADERS.originalId, id);
    headers.set(EVENT_HEADERS.originalSubject, this.link.names.logical(message.subject));
    await this.#store(id, message.data, headers, { reason, deliveries: message.info.deliveryCount });
    deadLettered.inc({ context: this.context, durable: this.durable });
  }

  /** Replaces the letter of an event that failed again. */
  async addAgain(letter: StoredLetter, reason: unknown): Promise<void> {
    const { eventId, data, headers, deliveries } = letter;
    await this.#store(eventId, data, headers, { reason, deliveries: deliveries + 1 });
  }

  /** Returns at most `limit` letters after the sequence `after`, oldest first. */
  async list({ after = 0, limit = 100 } = {}): Promise<readonly StoredLetter[]> {
    const letters: StoredLetter[] = [];
    for (let sequence = after; letters.length < limit;) {
      const stored = await this.#get({ seq: sequence + 1, next_by_subj: this.#subjectOf('*') });
      if (stored === null) break;
      letters.push(this.#read(stored));
      sequence = stored.seq;
    }
    return letters;
  }

  async count(): Promise<number> {
    const info = await this.#info(this.#subjectOf('*'));
    return Object.values(info?.state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  }

  /** Returns null when there is no letter for that event. */
  async find(eventId: string): Promise<StoredLetter | null> {
    const stored = await this.#get({ last_by_subj: this.#subjectOf(eventId) });
    return stored === null ? null : this.#read(stored);
  }

  /** Returns whether there was a letter to remove. */
  async remove(eventId: string): Promise<boolean> {
    const letter = await this.#get({ last_by_subj: this.#subjectOf(eventId) });
    if (letter === null) return false;
    try {
      return await this.manager.streams.deleteMessage(this.stream, letter.seq);
    } catch (error) {
      // Servers report a message that was removed in the meantime in different ways.
      const left = await this.#get({ last_by_subj: this.#subjectOf(eventId) });
      if (left?.seq !== letter.seq) return false;
      throw error;
    }
  }

  #subjectOf(eventId: string): string {
    return this.link.names.subject(`dlq.${this.context}.${this.durable}.${eventId}`);
  }

  async #store(
    eventId: string,
    data: Uint8Array,
    headers: MsgHdrs,
    { reason, deliveries }: { readonly reason: unknown; readonly deliveries: number },
  ): Promise<void> {
    headers.set(EVENT_HEADERS.deadReason, reasonText(reason));
    headers.set(EVENT_HEADERS.deadDeliveries, String(deliveries));
    await this.ensure();
    await this.manager.jetstream().publish(this.#subjectOf(eventId), data, {
      msgID: `${this.durable}:${eventId}:${deliveries}`,
      headers,
      timeout: API_TIMEOUT_MS,
    });
  }

  async #get(
    query: { readonly seq: number; readonly next_by_subj: string } | { readonly last_by_subj: string },
  ): Promise<StoredMsg | null> {
    try {
      return await this.manager.streams.getMessage(this.stream, query);
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.NoMessageFound, JetStreamApiCodes.StreamNotFound)) return null;
      throw error;
    }
  }

  #read(stored: StoredMsg): StoredLetter {
    const { header } = stored;
    const headers = newHeaders();
    for (const name of [...KEPT_HEADERS, EVENT_HEADERS.originalId, EVENT_HEADERS.originalSubject])
      copy(header, headers, name);
    return {
      durable: this.durable,
      sequence: stored.seq,
      eventId: header.get(EVENT_HEADERS.originalId),
      subject: header.get(EVENT_HEADERS.originalSubject),
      reason: header.get(EVENT_HEADERS.deadReason),
      deliveries: Number(header.get(EVENT_HEADERS.deadDeliveries)),
      at: stored.time,
      payload: stored.string(),
      data: stored.data,
      headers,
    };
  }

  async #info(subjects?: string): Promise<StreamInfo | null> {
    const options = subjects === undefined ? undefined : { subjects_filter: subjects };
    return this.manager.streams.info(this.stream, options).catch((error: unknown) => {
      if (isApiError(error, JetStreamApiCodes.StreamNotFound)) return null;
      throw error;
    });
  }
}

const copy = (from: MsgHdrs | undefined, to: MsgHdrs, name: string): void => {
  const value = from?.get(name) ?? '';
  if (value !== '') to.set(name, value);
};

// The code or the class name of the error, and its redacted message; never its stack.
const reasonText = (reason: unknown): string => {
  const text = isDomainError(reason)
    ? `${reason.code}: ${reason.message}`
    : reason instanceof Error
      ? `${reason.name}: ${reason.message}`
      : String(reason);
  return redactText(text)
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, MAX_REASON_LENGTH);
};

const idFromPayload = (message: JsMsg): string =>
  createHash('sha256').update(message.data).digest('hex').slice(0, 32);
