import { setTimeout as delay } from 'node:timers/promises';
import { hasRoom } from '@berth/host-requirements';
import { connect, RequestError, type NatsConnection } from '@nats-io/transport-node';

const EVERY_MS = 2_000;
const ANSWERS_WITHIN_MS = 4_000;
/** On a busy machine, a server whose JetStream is slow is slow to accept a connection, too. */
const GREETS_WITHIN_MS = 1_000;
const STUCK_AFTER_FAILURES = 2;
/** JetStream's error code while it is turned off. */
const OUT_OF_SERVICE = 503;

/** The broker as a user that may ask JetStream for its streams. */
export interface WatchedBroker {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly pass: string;
  readonly storeDir: string;
}

/** `off`: the server says that its JetStream is turned off; the rest of it works. */
type Finding = 'works' | 'off' | 'unreachable' | 'stuck';

/**
 * Resolves, with the reason, when only a restart makes JetStream work again; rejects when `signal` aborts. After a write
 * to a full disk, nats-server 2.9 waits for its own lock for ever, and later versions turn JetStream off. The server
 * still accepts connections. One that does not, for example a stopped process, is left alone, as is one whose JetStream is
 * off while its disk is full.
 */
export async function untilJetStreamIsStuck(broker: WatchedBroker, signal: AbortSignal): Promise<string> {
  const link = new BrokerLink(broker);
  try {
    for (let failures = 0; ;) {
      await delay(EVERY_MS, undefined, { signal });
      const finding = await link.ask();
      if (finding === 'works') failures = 0;
      if (finding === 'stuck' || (finding === 'off' && hasRoom(broker.storeDir))) failures += 1;
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
      this.#connection ??= await this.#connect(ANSWERS_WITHIN_MS);
    } catch {
      return 'unreachable';
    }
    try {
      // Looks into each stream, unlike the account's figures.
      const options = { timeout: ANSWERS_WITHIN_MS };
      const reply = await this.#connection.request('$JS.API.STREAM.LIST', '', options);
      const { error } = reply.json<{ readonly error?: { readonly code: number } }>();
      return error?.code === OUT_OF_SERVICE ? 'off' : 'works';
    } catch (error) {
      await this.close();
      if (isNobodyThere(error)) return 'off';
      return (await this.#greets()) ? 'stuck' : 'unreachable';
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close().catch(() => undefined);
  }

  /** Whether the server promptly accepts a connection and answers its ping. */
  async #greets(): Promise<boolean> {
    try {
      await (await this.#connect(GREETS_WITHIN_MS)).close();
      return true;
    } catch {
      return false;
    }
  }

  #connect(timeout: number): Promise<NatsConnection> {
    const { host, port, user, pass } = this.broker;
    const servers = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return connect({
      servers,
      user,
      pass,
      reconnect: false,
      timeout,
      name: 'berth-jetstream-watch',
    });
  }
}

function isNobodyThere(error: unknown): boolean {
  return error instanceof RequestError && error.isNoResponders();
}
