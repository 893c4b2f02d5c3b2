import { AdvisoryLock } from '@berth/persistence';
import { backoff, pause } from '@berth/supervision';
import { metrics } from '@berth/telemetry';
import type { EventRelayOptions } from './event-relay-options.js';
import { DUPLICATE_WINDOW_MS, EventStream } from './event-stream.js';
import { ensureMessagingTables } from './messaging-tables.js';
import { StreamMoved } from './relay-publisher.js';
import { RelaySession } from './relay-session.js';

const restarts = metrics.counter('berth_relay_restarts', 'Relay sessions that ended with a failure.', [
  'context',
]);

/**
 * Publishes a context's public events to the JetStream stream `<instance>_EVT_<CONTEXT>` in log order, each stored
 * once. The last message of the stream determines where to continue; a database row records how far it was. A stream
 * that lost its tail, or all messages, is filled again from the log.
 */
export class EventRelay {
  constructor(private readonly options: EventRelayOptions) {}

  /** Relays until `signal` aborts; only one instance works at a time. Waits out outages. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { database, context, log } = this.options;
    await AdvisoryLock.run(
      database,
      `event-relay:${context}`,
      async (held) => {
        await ensureMessagingTables(database);
        for (let attempt = 0; !held.aborted; attempt++) {
          const startedAt = Date.now();
          await this.#session(held, attempt);
          if (Date.now() - startedAt > 30_000) attempt = 0;
        }
      },
      { signal, log },
    );
  }

  async #session(held: AbortSignal, attempt: number): Promise<void> {
    const { link, context, log } = this.options;
    try {
      const stream = await EventStream.of(link, context);
      await new RelaySession(stream, this.options).run(held);
    } catch (error) {
      if (held.aborted) return;
      restarts.inc({ context });
      log.warn({ err: error, context }, 'Restarting the event relay.');
      await pause(error instanceof StreamMoved ? DUPLICATE_WINDOW_MS + 200 : backoff(attempt), held);
    }
  }
}
