import { AdvisoryLock } from '@berth/persistence';
import { NotReady } from '@berth/supervision';
import type { EventRelayOptions } from './event-relay-options.js';
import { EventStream } from './event-stream.js';
import { ensureMessagingTables } from './messaging-tables.js';
import { RelaySession } from './relay-session.js';

/**
 * Publishes a context's public events to the JetStream stream `<instance>_EVT_<CONTEXT>` in log order, each stored
 * once. The last message of the stream determines where to continue; a database row records its progress. A stream that
 * lost its tail, or all messages, is filled again from the log.
 */
export class EventRelay {
  constructor(private readonly options: EventRelayOptions) {}

  /**
   * Relays until `signal` aborts; only one instance works at a time. Throws when the lock, the log or the broker is
   * lost, or when the stream is not where the relay left it; call it again then.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { database, context, link } = this.options;
    if (!link.connected) throw new NotReady('The broker is not connected.');
    await AdvisoryLock.hold(database, `event-relay:${context}`, signal, async (held) => {
      await ensureMessagingTables(database);
      const stream = await EventStream.of(link, context);
      await new RelaySession(stream, this.options).run(held);
    });
  }
}
