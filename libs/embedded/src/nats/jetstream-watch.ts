import { setTimeout as delay } from 'node:timers/promises';
import { connect, RequestError, type NatsConnection } from '@nats-io/transport-node';

const EVERY_MS = 2_000;
const ANSWERS_WITHIN_MS = 3_000;
/** A busy machine may be slow once. */
const STUCK_AFTER_FAILURES = 2;
/** JetStream's error code while it is turned off. */
const OUT_OF_SERVICE = 503;

/** The broker as a user that may ask JetStream for its streams. */
export interface WatchedBroker {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly pass: string;
}

type Finding = 'works' | 'unreachable' | 'stuck';

/**
 * Resolves, with the reason, when only a restart makes JetStream work again; rejects when `signal` aborts. After a write
 * to a full disk, nats-server 2.9 waits for its own lock for ever, and later versions turn JetStream off. The server
 * still accepts connections. One that does not, for example a stopped process, is left alone.
 */
export async function untilJetStreamIsStuck(broker: WatchedBroker, signal: AbortSignal): Promise<string> {
  const link = new BrokerLink(broker);
  try {
    for (let failures = 0; ;) {
      await delay(EVERY_MS, undefined, { signal });
      const finding = await link.ask();
      if (finding === 'works') failures = 0;
      if (finding === 'stuck') failures += 1;
      if (failures >= STUCK_AFTER_FAILURES) return 'its JetStream does not respond';
    }
  } finally {
    await link.close();
  }
}

/** Connects when it asks, and keeps the connection while JetStream responds. */
class BrokerLink {
  #connection: NatsConnection | undefined;

  constructor(private readonly broker: WatchedBroker) {}

  async ask(): Promise<Finding> {
    try {
      this.#connection ??= await this.#connect();
    } catch {
      return 'unreachable';
    }
    try {
      // Looks into each stream, unlike the account's figures.
      const options = { timeout: ANSWERS_WITHIN_MS };
      const reply = await this.#connection.request('$JS.API.STREAM.LIST', '', options);
      const { error } = reply.json<{ readonly error?: { readonly code: number } }>();
      return error?.code === OUT_OF_SERVICE ? 'stuck' : 'works';
    } catch (error) {
      await this.close();
      return (await this.#greets()) || isNobodyThere(error) ? 'stuck' : 'unreachable';
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close().catch(() => undefined);
  }

  /** Whether the server accepts a connection and answers its ping. */
  async #greets(): Promise<boolean> {
    try {
      await (await this.#connect()).close();
      return true;
    } catch {
      return false;
    }
  }

  #connect(): Promise<NatsConnection> {
    const { host, port, user, pass } = this.broker;
    const servers = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return connect({
      servers,
      user,
      pass,
      reconnect: false,
      timeout: ANSWERS_WITHIN_MS,
      name: 'berth-jetstream-watch',
    });
  }
}

function isNobodyThere(error: unknown): boolean {
  return error instanceof RequestError && error.isNoResponders();
}
