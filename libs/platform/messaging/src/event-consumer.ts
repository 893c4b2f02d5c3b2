import { backoff, pause } from '@berth/persistence';
import type { EventConsumerOptions } from './event-consumer-options.js';
import { ConsumerSession, NoStreamYet } from './consumer-session.js';
import { DeadLetters } from './dead-letters.js';
import { EventHandling } from './event-handling.js';
import { EventStream } from './event-stream.js';
import { ProcessedEvents } from './processed-events.js';
import { ProcessedEventsFloor } from './processed-events-floor.js';
import { ensureMessagingTables } from './messaging-tables.js';

/** So long a context whose stream there never was may take to come up before it is remarked upon. */
const STREAM_WITHIN_MS = 15_000;

/**
 * A durable consumer of a context's events: acknowledges after the effect, does it once however often the event is
 * delivered, gives up after a bounded number of deliveries into a dead-letter stream. Survives a broker that lost the
 * stream, its tail or the consumer.
 */
export class EventConsumer {
  readonly #replays = new Map<string, Promise<'handled' | 'failed' | 'unknown'>>();

  constructor(private readonly options: EventConsumerOptions) {}

  /** Consumes until `signal` aborts. Outages of broker and database are waited out. Never throws. */
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
          log.warn({ err: error, durable }, 'The event consumer starts over.');
      }
      if (Date.now() - startedAt > 10_000) attempt = 0;
      await pause(backoff(attempt, 100, 2_000), signal);
    }
  }

  get durable(): string {
    return this.options.durable;
  }

  /** What could not be handled. */
  deadLetters(): Promise<DeadLetters> {
    const { link, context, durable } = this.options;
    return DeadLetters.of(link, context, durable);
  }

  /**
   * Handles the event of a dead letter once more; the letter goes when that succeeds. Acts once, however often and on
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
