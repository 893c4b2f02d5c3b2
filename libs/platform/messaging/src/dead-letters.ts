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
} from '@nats-io/jetstream';
import { headers as newHeaders } from '@nats-io/transport-node';
import { EVENT_HEADERS } from './event-headers.js';
import { isApiError } from './event-stream.js';
import type { NatsLink } from './nats-link.js';
import type { WireNames } from './wire-names.js';

/** An event that a consumer could not handle. */
export interface DeadLetter {
  readonly durable: string;
  readonly eventId: string;
  readonly subject: string;
  readonly reason: string;
  readonly deliveries: number;
  readonly at: Date;
  /** The event's payload, as text. */
  readonly payload: string;
}

const API_TIMEOUT_MS = 4_000;
const MAX_REASON = 300;

const buried = metrics.counter('berth_dead_letters', 'Events that a consumer could not handle.', [
  'context',
  'durable',
]);

/** The stream `<instance>_DLQ_<CONTEXT>`: what this context's events came to that could not be handled, kept until looked at. */
export class DeadLetters {
  readonly #stream: string;

  private constructor(
    private readonly manager: JetStreamManager,
    private readonly names: WireNames,
    private readonly context: string,
    private readonly durable: string,
  ) {
    this.#stream = names.deadLetterStream(context);
  }

  static async of(link: NatsLink, context: string, durable: string): Promise<DeadLetters> {
    const manager = await jetstreamManager(link.connection, { checkAPI: false, timeout: API_TIMEOUT_MS });
    return new DeadLetters(manager, link.names, context, durable);
  }

  /** Stores the message with its reason; answers once the broker has it. */
  async add(message: JsMsg, reason: unknown): Promise<void> {
    const headers = newHeaders();
    const eventId = message.headers?.get(EVENT_HEADERS.id) ?? '';
    const id = eventId === '' ? unnamed(message) : eventId;
    headers.set(EVENT_HEADERS.originalId, id);
    headers.set(EVENT_HEADERS.originalSubject, this.names.logical(message.subject));
    headers.set(EVENT_HEADERS.position, message.headers?.get(EVENT_HEADERS.position) ?? '');
    headers.set(EVENT_HEADERS.recordedAt, message.headers?.get(EVENT_HEADERS.recordedAt) ?? '');
    headers.set(EVENT_HEADERS.deadReason, reasonText(reason));
    headers.set(EVENT_HEADERS.deadDeliveries, String(message.info.deliveryCount));
    await this.#ensure();
    await this.manager.jetstream().publish(this.#subject, message.data, {
      msgID: `${this.durable}:${id}`,
      headers,
      timeout: API_TIMEOUT_MS,
    });
    buried.inc({ context: this.context, durable: this.durable });
  }

  /** Oldest first, at most `limit`. */
  async list(limit = 100): Promise<readonly DeadLetter[]> {
    const letters: DeadLetter[] = [];
    const info = await this.#info();
    for (
      let sequence = info?.state.first_seq ?? 1;
      info !== null && sequence <= info.state.last_seq;
      sequence++
    ) {
      if (letters.length >= limit) break;
      const letter = await this.#read(sequence);
      if (letter !== undefined) letters.push(letter.letter);
    }
    return letters;
  }

  /** Removes the dead letters of that event. */
  async remove(eventId: string): Promise<void> {
    const info = await this.#info();
    for (
      let sequence = info?.state.first_seq ?? 1;
      info !== null && sequence <= info.state.last_seq;
      sequence++
    ) {
      const found = await this.#read(sequence);
      if (found?.letter.eventId === eventId) await this.manager.streams.deleteMessage(this.#stream, sequence);
    }
  }

  get #subject(): string {
    return this.names.subject(`dlq.${this.context}.${this.durable}`);
  }

  async #read(sequence: number): Promise<{ letter: DeadLetter } | undefined> {
    const stored = await this.manager.streams
      .getMessage(this.#stream, { seq: sequence })
      .catch((error: unknown) => {
        if (isApiError(error, JetStreamApiCodes.NoMessageFound)) return null;
        throw error;
      });
    if (stored === null || stored.subject !== this.#subject) return undefined;
    return {
      letter: {
        durable: this.durable,
        eventId: stored.header.get(EVENT_HEADERS.originalId),
        subject: stored.header.get(EVENT_HEADERS.originalSubject),
        reason: stored.header.get(EVENT_HEADERS.deadReason),
        deliveries: Number(stored.header.get(EVENT_HEADERS.deadDeliveries)),
        at: stored.time,
        payload: stored.string(),
      },
    };
  }

  async #info() {
    return this.manager.streams.info(this.#stream).catch((error: unknown) => {
      if (isApiError(error, JetStreamApiCodes.StreamNotFound)) return null;
      throw error;
    });
  }

  async #ensure(): Promise<void> {
    if ((await this.#info()) !== null) return;
    await this.manager.streams.add({
      name: this.#stream,
      subjects: [this.names.subject(`dlq.${this.context}.>`)],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_msgs: 100_000,
    });
  }
}

// The class and code of what was thrown, and its words without secrets; never a stack.
const reasonText = (reason: unknown): string => {
  const text = isDomainError(reason)
    ? `${reason.code}: ${reason.message}`
    : reason instanceof Error
      ? `${reason.name}: ${reason.message}`
      : String(reason);
  return redactText(text)
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, MAX_REASON);
};

const unnamed = (message: JsMsg): string =>
  createHash('sha256').update(message.data).digest('hex').slice(0, 32);
