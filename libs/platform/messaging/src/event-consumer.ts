import { backoff, pause } from '@berth/supervision';
import type { EventConsumerOptions } from './event-consumer-options.js';
import { ConsumerSession, NoStreamYet } from './consumer-session.js';
import { DeadLetters } from './dead-letters.js';
import { EventHandling } from './event-handling.js';
import { EventStream } from './event-stream.js';
import { ProcessedEvents } from './processed-events.js';
import { ProcessedEventsFloor } from './processed-events-floor.js';
import { ensureMessagingTables } from './messaging-tables.js';

/** A stream that has never existed may be missing for this long before a warning is logged. */
const STREAM_WITHIN_MS = 15_000;

/**
 * A durable consumer of a context's events: acknowledges after the effect, applies it once however often the event is
 * delivered, and moves an event to the dead letters after a bounded number of deliveries. Recovers when the broker lost
 * the stream, its tail or the consumer.
 */
export class EventConsumer {
  readonly #replays = new Map<string, Promise<'handled' | 'failed' | 'unknown'>>();

  constructor(private readonly options: EventConsumerOptions) {}

  /** Consumes until `signal` aborts. Waits out outages of broker and database. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { link, log, durable } = this.options;
    const begunAt = Date.now();
    for (let attempt = 0; !signal.aborted; attempt++) {
      const startedAt = Date.now();
      try {
        if (link.connected) await this.#session(signal);
      } catch (error) {
        const early = error instanceof NoStreamYet && Date.now() - begunAt < STREAM_WITHIN_MS;
        if (!early && (attempt === 0 || attempt % 20 === 0))
          log.warn({ err: error, durable }, 'Restarting the event consumer.');
      }
      if (Date.now() - startedAt > 10_000) attempt = 0;
      await pause(backoff(attempt, 100, 2_000), signal);
    }
  }

  get durable(): string {
    return this.options.durable;
  }

  /** The consumer's dead letters. */
  deadLetters(): Promise<DeadLetters> {
    const { link, context, durable } = this.options;
    return DeadLetters.of(link, context, durable);
  }

  /**
   * Handles the event of a dead letter again and removes the letter on success. Acts once, however often and on
   * however many instances it is called.
   */
  replay(eventId: string): Promise<'handled' | 'failed' | 'unknown'> {
    const running = this.#replays.get(eventId);
    if (running !== undefined) return running;
    const replay = this.#replay(eventId).finally(() => this.#replays.delete(eventId));
    this.#replays.set(eventId, replay);
    return replay;
  }

  async #replay(eventId: string): Promise<'handled' | 'failed' | 'unknown'> {
    const deadLetters = await this.deadLetters();
    const letter = await deadLetters.find(eventId);
    if (letter === null) return 'unknown';
    await ensureMessagingTables(this.options.database);
    const processed = new ProcessedEvents(this.options, new ProcessedEventsFloor(this.options));
    return new EventHandling(this.options, processed, deadLetters).replay(letter);
  }

  async #session(signal: AbortSignal): Promise<void> {
    const { link, database, context } = this.options;
    await ensureMessagingTables(database);
    const floor = new ProcessedEventsFloor(this.options);
    const stream = await EventStream.of(link, context);
    await new ConsumerSession(this.options, stream, floor, await this.deadLetters()).run(signal);
  }
}
