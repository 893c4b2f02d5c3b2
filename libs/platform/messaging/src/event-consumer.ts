import { NotReady } from '@berth/supervision';
import type { EventConsumerOptions } from './event-consumer-options.js';
import { ConsumerSession } from './consumer-session.js';
import { DeadLetters } from './dead-letters.js';
import { EventHandling } from './event-handling.js';
import { EventStream } from './event-stream.js';
import { ProcessedEvents } from './processed-events.js';
import { ProcessedEventsFloor } from './processed-events-floor.js';
import { ensureMessagingTables } from './messaging-tables.js';

/**
 * A durable consumer of a context's events: acknowledges an event after its effect, applies the effect once even if the
 * event is delivered several times, and moves the event to the dead letters after a bounded number of deliveries.
 * Recovers when the broker lost the stream, its tail or the consumer.
 */
export class EventConsumer {
  readonly #replays = new Map<string, Promise<'handled' | 'failed' | 'unknown'>>();

  constructor(private readonly options: EventConsumerOptions) {}

  /**
   * Consumes until `signal` aborts. Throws when the broker or the database is lost, or the broker lost the stream or
   * the consumer; call it again then.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { link, database, context } = this.options;
    if (!link.connected) throw new NotReady('The broker is not connected.');
    await ensureMessagingTables(database);
    const floor = new ProcessedEventsFloor(this.options);
    const stream = await EventStream.of(link, context);
    await new ConsumerSession(this.options, stream, floor, await this.deadLetters()).run(signal);
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
   * Handles the event of a dead letter again and removes the letter on success. Acts once, even if several instances
   * call it concurrently.
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
}
