import { setTimeout as sleep } from 'node:timers/promises';
import { detach, DomainError } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { errors } from '@nats-io/transport-node';
import { accessOptions, type NatsCredentials } from './nats-address.js';
import { SendQueue } from './send-queue.js';
import { UnfitBroker } from './unfit-broker.js';
import { WireNames } from './wire-names.js';

export interface NatsLinkOptions {
  /** `nats://user:password@host:port`, see `parseNatsUrl`. */
  readonly url: string;
  /** Files with the service's credentials, if the URL has none. */
  readonly credentials?: NatsCredentials | undefined;
  /** The service: part of the connection's name as the broker shows it, and of its reply subjects. */
  readonly name: string;
  /** The installation's name on the broker; default `berth`. */
  readonly instance?: string;
  /** How many servers hold each message of a stream; for the default see `wantedReplicas`. */
  readonly replicas?: number | undefined;
  readonly log: Logger;
  /** How long `open` waits for the broker, in milliseconds; default 30,000. */
  readonly openWithinMs?: number;
  readonly signal?: AbortSignal;
}

/** Returns the link options from a service's configuration. */
export const brokerOf = (config: {
  readonly natsUrl: string;
  readonly natsCredentials?: NatsCredentials | undefined;
  readonly instance: string;
  readonly natsReplicas?: number | undefined;
}): Pick<NatsLinkOptions, 'url' | 'credentials' | 'instance' | 'replicas'> => ({
  url: config.natsUrl,
  credentials: config.natsCredentials,
  instance: config.instance,
  replicas: config.natsReplicas,
});

// After two pings without a pong the link is lost: it notices a frozen broker within about 3 s.
const PING_INTERVAL_MS = 1_000;
const MAX_PINGS_OUT = 2;
const DIAL_TIMEOUT_MS = 2_000;
const RECONNECT_WAIT_MS = 200;
const CLOSE_WITHIN_MS = 2_000;

/** A service's only connection to the broker. Once open it reconnects without limit; subscriptions survive. */
export class NatsLink {
  #connected = true;
  #closed = false;
  /** Messages that are sent together at the end of the event loop's turn. */
  readonly outgoing = new SendQueue();
  readonly #onDisconnect = new Set<() => void>();
  readonly #onReconnect = new Set<() => void>();
  readonly #beforeClose: (() => Promise<void>)[] = [];

  private constructor(
    readonly connection: NatsConnection,
    /** Names of this installation's subjects and streams on the broker. */
    readonly names: WireNames,
    /** Prefix of the link's reply subjects. */
    readonly inboxPrefix: string,
    private readonly options: NatsLinkOptions,
  ) {
    detach(this.#watch());
  }

  /**
   * Connects to the broker. Throws DomainError('unavailable', 'service_unavailable') when it does not respond in time;
   * rejected credentials fail immediately.
   */
  static async open(options: NatsLinkOptions): Promise<NatsLink> {
    const deadline = Date.now() + (options.openWithinMs ?? 30_000);
    const names = new WireNames(options.instance);
    const inbox = names.inboxPrefix(options.name);
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        return new NatsLink(await connect(connectionOptions(options, names)), names, inbox, options);
      } catch (error) {
        if (error instanceof errors.AuthorizationError)
          throw new UnfitBroker('names a broker that refuses the credentials', { cause: error });
        if (Date.now() >= deadline) {
          throw new DomainError(
            'unavailable',
            'service_unavailable',
            'The message broker does not respond.',
            {},
            { cause: error },
          );
        }
        options.log.warn({ err: error }, 'The broker does not respond, trying again.');
        await sleep(RECONNECT_WAIT_MS);
      }
    }
  }

  /** The value of NATS_REPLICAS, if set. */
  get replicas(): number | undefined {
    return this.options.replicas;
  }

  /** Whether the link is connected, as far as this process knows. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Whether a server accepts another connection of this service. */
  async acceptsConnections(): Promise<boolean> {
    try {
      const options = connectionOptions(this.options, this.names);
      const another = await connect({ ...options, reconnect: false });
      await another.close();
      return true;
    } catch {
      return false;
    }
  }

  /** Calls `listener` on every disconnect, including the link's own close; returns a function that removes it. */
  onDisconnect(listener: () => void): () => void {
    this.#onDisconnect.add(listener);
    return () => this.#onDisconnect.delete(listener);
  }

  /** Calls `listener` on every reconnect; the broker may have lost its store. Returns a function that removes it. */
  onReconnect(listener: () => void): () => void {
    this.#onReconnect.add(listener);
    return () => this.#onReconnect.delete(listener);
  }

  /** Runs `work` (for a bounded time) on close, while the broker is still reachable. */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose.push(work);
  }

  /** Sends buffered messages (for a bounded time) and closes permanently. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.outgoing.flush();
    if (this.#connected) {
      const closing = this.#beforeClose.map((work) => work().catch(() => undefined));
      await Promise.race([
        Promise.all(closing).then(() => this.connection.flush().catch(() => undefined)),
        sleep(CLOSE_WITHIN_MS, undefined, { ref: false }),
      ]);
    }
    this.#lost();
    await this.connection.close();
  }

  async #watch(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection' || status.type === 'close')
        this.#lost();
      else if (status.type === 'reconnect') this.#back();
      else if (status.type === 'error')
        this.options.log.warn({ err: status.error }, 'The broker reports an error.');
      else if (status.type === 'slowConsumer')
        this.options.log.warn({ subject: status.sub.getSubject() }, 'Slow consumer.');
    }
    this.#lost();
    if (!this.#closed) this.options.log.fatal('The connection to the broker closed permanently.');
  }

  #lost(): void {
    if (!this.#connected) return;
    this.#connected = false;
    if (!this.#closed) this.options.log.warn('Lost the broker.');
    for (const listener of this.#onDisconnect) listener();
  }

  #back(): void {
    if (this.#connected || this.#closed) return;
    this.#connected = true;
    this.options.log.info('The broker is back.');
    for (const listener of this.#onReconnect) listener();
  }
}

const connectionOptions = (
  { url, credentials, name }: NatsLinkOptions,
  names: WireNames,
): ConnectionOptions => ({
  ...accessOptions(url, credentials),
  name: `${names.instance}-${name}`,
  inboxPrefix: names.inboxPrefix(name),
  maxReconnectAttempts: -1,
  reconnectTimeWait: RECONNECT_WAIT_MS,
  reconnectJitter: 100,
  pingInterval: PING_INTERVAL_MS,
  maxPingOut: MAX_PINGS_OUT,
  timeout: DIAL_TIMEOUT_MS,
  // An operator may change the credentials on the broker before those of the service; that must not end the service.
  ignoreAuthErrorAbort: true,
});
