import { jetstreamManager } from '@nats-io/jetstream';
import { EventStream } from './event-stream.js';
import type { NatsLink } from './nats-link.js';

const API_TIMEOUT_MS = 4_000;

/** Whether the broker has what a service needs of JetStream. */
export class BrokerCheck {
  constructor(
    private readonly link: NatsLink,
    /** Contexts whose events the service publishes. */
    private readonly publishes: readonly string[] = [],
  ) {}

  /** Asks JetStream for the account and the streams. Throws when it does not respond. */
  async isFit(): Promise<boolean> {
    const { connection } = this.link;
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: API_TIMEOUT_MS });
    await manager.getAccountInfo();
    for (const context of this.publishes) {
      if ((await (await EventStream.of(this.link, context)).find()) === null) return false;
    }
    return true;
  }
}
