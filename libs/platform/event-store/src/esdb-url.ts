import { readFileSync } from 'node:fs';
import { Channel, credentials, type ChannelCredentials } from '@grpc/grpc-js';
import { EventStoreDBClient, type Credentials } from '@eventstore/db-client';

const PARTS = /^esdb(\+discover)?:\/\/(?:([^:@/]+):([^@/]+)@)?([^?]+)(?:\?(.*))?$/;

const INVALID = 'This is not an event store URL (esdb://host:port?tls=false).';

const DEFAULT_PORT = 2113;
const GOSSIP_TIMEOUT_SECONDS = 1;

const KEEP_ALIVE = { keepAliveInterval: 10_000, keepAliveTimeout: 5_000 };

/** Other clients can write events of up to 16 MiB. */
const MAX_MESSAGE_BYTES = 17 * 1_048_576;

/** A node that comes back is used again within this time, however long it was down. */
const MAX_RECONNECT_MS = 500;

/** An `esdb://` URL; creates clients and channels for it. */
export class EsdbUrl {
  readonly credentials: Credentials;
  /** The nodes in the URL, as `host:port`. */
  readonly nodes: readonly string[];
  /** Whether the URL may lead to several nodes. */
  readonly isCluster: boolean;
  readonly #text: string;
  readonly #options: ReadonlyMap<string, string>;

  /** Does not connect. Throws when the URL is invalid; the error does not contain it. */
  constructor(url: string) {
    const match = PARTS.exec(url.trim());
    if (match === null) throw new Error(INVALID);
    const [, discover, username, password, hosts = '', query = ''] = match;
    this.#options = new Map([...new URLSearchParams(query)].map(([name, value]) => [flat(name), value]));
    if (this.#option('tls') !== 'false' && username === undefined) {
      throw new Error('An event store URL with TLS needs esdb://user:password@….');
    }
    this.nodes = hosts
      .split(/[,/]/)
      .filter((host) => host !== '')
      .map((host) => (host.includes(':') ? host : `${host}:${DEFAULT_PORT}`));
    this.isCluster = this.nodes.length > 1 || discover !== undefined;
    // Credentials make the client send each append as a unary call. Without TLS it does not transmit them.
    this.credentials = {
      username: decodeURIComponent(username ?? 'none'),
      password: decodeURIComponent(password ?? 'none'),
    };
    this.#text = url.trim();
    this.client();
  }

  get gossipTimeoutMs(): number {
    return Number.parseInt(this.#option('gossipTimeout') ?? String(GOSSIP_TIMEOUT_SECONDS), 10) * 1_000;
  }

  client(): EventStoreDBClient {
    try {
      return EventStoreDBClient.connectionString(this.#text);
    } catch {
      throw new Error(INVALID);
    }
  }

  /** Opens a channel to one node (`host:port`) that shares its TCP connection with no other channel. */
  channel(node: string): Channel {
    return new Channel(node, this.#channelCredentials(), {
      'grpc.keepalive_time_ms': this.#keepAlive('keepAliveInterval'),
      'grpc.keepalive_timeout_ms': this.#keepAlive('keepAliveTimeout'),
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.initial_reconnect_backoff_ms': MAX_RECONNECT_MS / 10,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  #option(name: string): string | undefined {
    return this.#options.get(flat(name));
  }

  #keepAlive(name: keyof typeof KEEP_ALIVE): number {
    const millis = Number.parseInt(this.#option(name) ?? String(KEEP_ALIVE[name]), 10);
    return millis < 0 ? Number.MAX_VALUE : millis;
  }

  #channelCredentials(): ChannelCredentials {
    if (this.#option('tls') === 'false') return credentials.createInsecure();
    const file = (name: string): Buffer | null => {
      const path = this.#option(name);
      return path === undefined ? null : readFileSync(path);
    };
    return credentials.createSsl(file('tlsCAFile'), file('userKeyFile'), file('userCertFile'));
  }
}

/** The client accepts option names in any case, with hyphens or underscores. */
const flat = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');
