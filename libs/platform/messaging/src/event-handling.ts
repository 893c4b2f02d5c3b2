import { type SqlRunner } from '@berth/persistence';
import { backoff, pause } from '@berth/supervision';
import { metrics, requestContext, withSpan } from '@berth/telemetry';
import type { JsMsg } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import { BACKOFF_MS, MAX_DELIVERIES, type EventConsumerOptions } from './event-consumer-options.js';
import { matchesFilter } from './event-subject.js';
import type { DeadLetters, StoredLetter } from './dead-letters.js';
import type { ProcessedEvents } from './processed-events.js';
import { readEvent, readLetter, type ReceivedEvent } from './received-event.js';
import { requestIdOf, traceOf } from './request-wire.js';

/**
 * The broker redelivers a message after this time without an acknowledgement or a progress report. Events that a process
 * had received when it was killed wait for that long, so it is less than the 10 s in which a suspension must take effect.
 */
export const ACK_WAIT_MS = 6_000;
const STILL_WORKING_EVERY_MS = ACK_WAIT_MS / 3;

const handled = metrics.counter('berth_events_consumed', 'Events received, by outcome.', [
  'durable',
  'outcome',
]);

/** Handles single messages of a consumer. */
export class EventHandling {
  constructor(
    private readonly options: EventConsumerOptions,
    private readonly processed: ProcessedEvents,
    private readonly deadLetters: DeadLetters,
  ) {}

  /** Handles the message and then acknowledges it, requests a redelivery or dead-letters it. */
  async take(message: JsMsg, signal: AbortSignal): Promise<void> {
    const { filterSubjects, durable, link } = this.options;
    const subject = link.names.logical(message.subject);
    if (!filterSubjects.some((filter) => matchesFilter(filter, subject))) {
      message.ack();
      return;
    }
    const working = setInterval(() => message.working(), STILL_WORKING_EVERY_MS);
    try {
      const outcome = await this.#handle(message, signal);
      handled.inc({ durable, outcome });
    } finally {
      clearInterval(working);
    }
  }

  async #handle(message: JsMsg, signal: AbortSignal): Promise<string> {
    const event = readEvent(message, this.options.link.names);
    const { maxDeliveries = MAX_DELIVERIES } = this.options;
    if (event === undefined) return this.#deadLetter(message, undefined, 'The message is not an event.');
    if (event.delivery > maxDeliveries)
      return this.#deadLetter(message, event, await this.#reasonWithoutAcknowledgement(event));
    for (let attempt = 0; ; attempt++) {
      try {
        const isNew = await this.#effect(message.headers, event, (effect) =>
          this.processed.once(event, effect),
        );
        message.ack();
        return isNew ? 'done' : 'duplicate';
      } catch (error) {
        if (signal.aborted) {
          message.nak();
          return 'stopped';
        }
        if (await this.#databaseResponds()) return this.#failed(message, event, error);
        // The event is not the cause, so this does not count as a delivery.
        await pause(backoff(attempt, 200, 2_000), signal);
      }
    }
  }

  /**
   * Handles the event of a dead letter: removes the letter on success, and stores the latest reason on failure. An
   * event that was handled in the meantime is not handled again. Throws when the database is down, because the outcome
   * is then unknown.
   */
  async replay(letter: StoredLetter): Promise<'handled' | 'failed'> {
    const { log, durable } = this.options;
    const event = readLetter(letter);
    if (event === undefined) return 'failed';
    try {
      const isNew = await this.#effect(letter.headers, event, (effect) =>
        this.processed.requeue(event, effect),
      );
      handled.inc({ durable, outcome: isNew ? 'replayed' : 'duplicate' });
    } catch (error) {
      if (!(await this.#databaseResponds())) throw error;
      log.warn({ err: error, durable, eventId: event.id }, 'A replayed event failed again.');
      await this.deadLetters.addAgain(letter, error);
      return 'failed';
    }
    await this.deadLetters.remove(event.id);
    return 'handled';
  }

  #effect(
    headers: MsgHdrs | undefined,
    event: ReceivedEvent,
    once: (effect: (tx: SqlRunner) => Promise<void>) => Promise<boolean>,
  ): Promise<boolean> {
    const { handle, durable } = this.options;
    const options = {
      kind: 'consumer',
      links: [traceOf(headers)],
      attributes: {
        'messaging.system': 'nats',
        'messaging.consumer.group.name': durable,
        'berth.event': event.name,
      },
    } as const;
    return requestContext.run({ requestId: requestIdOf(headers) }, () =>
      withSpan(`consume ${event.context}.${event.name}`, options, () => once((tx) => handle(event, tx))),
    );
  }

  async #failed(message: JsMsg, event: ReceivedEvent, error: unknown): Promise<string> {
    const { log, durable, maxDeliveries = MAX_DELIVERIES, backoffMs = BACKOFF_MS } = this.options;
    const about = {
      err: error,
      durable,
      subject: event.subject,
      eventId: event.id,
      delivery: event.delivery,
    };
    if (event.delivery >= maxDeliveries) {
      log.error(about, 'An event could not be handled; moving it to the dead letters.');
      return this.#deadLetter(message, event, error);
    }
    log.warn(about, 'An event could not be handled; it will be redelivered.');
    message.nak(backoffMs[Math.min(event.delivery, backoffMs.length) - 1]);
    return 'failed';
  }

  /**
   * Every delivery ended without an acknowledgement: the handler's process died or took too long, or a letter was
   * stored but its message not terminated.
   */
  async #reasonWithoutAcknowledgement({ id }: ReceivedEvent): Promise<string> {
    const letter = await this.deadLetters.find(id);
    return letter?.reason ?? 'No delivery was ever acknowledged.';
  }

  async #deadLetter(message: JsMsg, event: ReceivedEvent | undefined, reason: unknown): Promise<string> {
    await this.deadLetters.add(message, reason);
    if (event !== undefined) await this.processed.deadLetter(event);
    message.term();
    return 'dead';
  }

  async #databaseResponds(): Promise<boolean> {
    return this.options.database.ping().then(
      () => true,
      () => false,
    );
  }
}
