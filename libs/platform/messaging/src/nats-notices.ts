import type { DatabaseNotices, Notices } from '@berth/persistence';
import type { NatsLink } from './nats-link.js';

/** The scope of notices about the PostgreSQL server, which all services share. */
const ALL_SERVICES = 'postgres';

/** Notices over the broker, on `notice.<scope>.<topic>`. Sends nothing while the broker is away. */
export class NatsNotices implements Notices {
  constructor(
    private readonly link: NatsLink,
    private readonly scope: string,
  ) {}

  /** Returns the notices of a service with tables; its user on the broker needs the permission for them. */
  static of(link: NatsLink, service: string): DatabaseNotices {
    return { service: new NatsNotices(link, service), server: new NatsNotices(link, ALL_SERVICES) };
  }

  get connected(): boolean {
    return this.link.connected;
  }

  publish(topic: string, text: string): void {
    if (this.link.connected) this.link.connection.publish(this.#subject(topic), text);
  }

  subscribe(topic: string, heard: (text: string | null) => void): () => void {
    const subscription = this.link.connection.subscribe(this.#subject(topic), {
      callback: (error, message) => {
        if (error === null) heard(message.string());
      },
    });
    const unlisten = this.link.onReconnect(() => {
      // A notice may still get lost until the server has read the renewed subscription, which it has after a flush. If
      // the flush fails, the next reconnect follows.
      void this.link.connection.flush().then(
        () => heard(null),
        () => undefined,
      );
    });
    return () => {
      unlisten();
      subscription.unsubscribe();
    };
  }

  #subject(topic: string): string {
    return this.link.names.subject(`notice.${this.scope}.${topic}`);
  }
}
