import { detach } from '@berth/kernel';
import {
  CancelledError,
  isCommandError,
  NotLeaderError,
  UnavailableError,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';
import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import { closeChannel } from './esdb-channel.js';
import type { EsdbDiscovery } from './esdb-discovery.js';
import { ConnectionReplaced, isSilence } from './esdb-timeouts.js';
import type { EsdbUrl } from './esdb-url.js';

/** Minimum interval between two searches for the cluster's leader. */
const LOOK_AGAIN_MS = 100;

/**
 * How long a connection may be silent although calls are waiting. `suspicious`: then the other nodes are callStarted whether
 * another node leads. `dead`: then the connection is replaced even if the same node still leads.
 */
const SILENCE_MS = { suspicious: 2_000, dead: 15_000 };

const CALLS_ARE_SENT_MS = 100;

const LOG_AGAIN_MS = 10_000;

/** Private methods of the client that these classes replace. */
interface ClientInside {
  createChannel: () => Promise<Channel>;
  handleError: () => Promise<void>;
}

/** One client with one connection. */
export class EsdbClient {
  readonly client: EventStoreDBClient;
  readonly #gone = new AbortController();
  #channel: Channel | undefined;
  #heardAt = performance.now();
  #waitingSince: number | undefined;
  #stranded = false;

  /** `node`: `host:port`; if undefined, the URL's nodes are callStarted for the leader. */
  constructor(
    url: EsdbUrl,
    private readonly discovery: EsdbDiscovery,
    private node?: string,
  ) {
    this.client = url.client();
    const inside = this.client as unknown as ClientInside;
    // The client's own implementation leaks channels (on dispose, and when two concurrent failures replace one twice),
    // and changes nodes only when its node reports that it is unavailable.
    inside.handleError = () => Promise.resolve();
    inside.createChannel = async () => {
      const found = await this.findNode().catch((error: unknown) => {
        this.#stranded = true;
        throw error;
      });
      if (this.#gone.signal.aborted) throw new ConnectionReplaced();
      return (this.#channel = url.channel(found));
    };
  }

  /** The node that this client connects to; throws when none is found. */
  async findNode(): Promise<string> {
    return (this.node ??= await this.discovery.findLeader());
  }

  /** Aborts when another client has replaced this one; calls on this one will not complete. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Whether the first search for a node failed. The client caches that failure and fails every later call with it. */
  get stranded(): boolean {
    return this.#stranded;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  /** Counts the result as a response of the leader even if the caller has stopped waiting for it. */
  async listen<T>(call: Promise<T>): Promise<T> {
    const result = await call;
    this.heard();
    return result;
  }

  callStarted(): void {
    this.#waitingSince ??= performance.now();
  }

  /** Records that the server sent something. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#waitingSince = undefined;
  }

  /** How long calls have been waiting without any response, in milliseconds. */
  get silentFor(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }

  async close(): Promise<void> {
    this.#gone.abort();
    // A call that has its channel but is not sent yet would cause an unhandled rejection.
    await pause(CALLS_ARE_SENT_MS);
    // Streams in progress first: closing the channel does not end them.
    await this.client.dispose();
    if (this.#channel !== undefined) closeChannel(this.#channel);
  }
}

/**
 * The connection to the log's leader: one client at a time. A client is replaced as a whole when another node leads.
 * Without that, a client would stay connected to a frozen node, although the others elect a new leader soon.
 */
export class LeaderConnection {
  #current: EsdbClient;
  #looking = false;
  #closed = false;
  #loggedAt = -LOG_AGAIN_MS;

  constructor(
    private readonly url: EsdbUrl,
    private readonly discovery: EsdbDiscovery,
    private readonly log: Logger,
  ) {
    this.#current = this.#open();
  }

  get current(): EsdbClient {
    return this.#current;
  }

  /** Runs one call. On a silent server the call must fail with an error that `isSilence` recognises. */
  async call<T>(work: (open: EsdbClient) => Promise<T>): Promise<T> {
    const open = this.#current;
    if (open.gone.aborted) throw new ConnectionReplaced();
    open.callStarted();
    try {
      const result = await work(open);
      open.heard();
      return result;
    } catch (error) {
      this.failed(open, error);
      throw error;
    }
  }

  /** Handles the failure of a call or a feed on that client: may replace the client. */
  failed(open: EsdbClient, error: unknown): void {
    if (error instanceof ConnectionReplaced) return;
    if (open.stranded) this.#replace(open, this.#open(), 'no node was found');
    else if (isSilence(error)) {
      if (open.silentFor >= SILENCE_MS.dead) this.#replace(open, this.#open(), 'silent');
      else if (open.silentFor >= SILENCE_MS.suspicious) detach(this.#lookForAnother(open));
    } else if (error instanceof NotLeaderError) {
      open.heard();
      const { address, port } = error.leader;
      this.#replace(open, this.#open(`${address}:${port}`), 'not the leader');
    } else if (error instanceof UnavailableError || error instanceof CancelledError) {
      detach(this.#lookForAnother(open));
    } else if (error instanceof Error && isCommandError(error)) open.heard();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#current.close();
  }

  /** The node is down or silent: another may lead by now. A connection to the same node reconnects on its own. */
  async #lookForAnother(open: EsdbClient): Promise<void> {
    if (this.#looking || open !== this.#current) return;
    this.#looking = true;
    const candidate = this.#open();
    try {
      const [node, before] = [await candidate.findNode(), await open.findNode()];
      if (node !== before) this.#replace(open, candidate, 'its node is down or silent');
      await pause(LOOK_AGAIN_MS);
    } catch {
      // No node responds. The next failing call searches again.
    } finally {
      this.#looking = false;
    }
  }

  #open(node?: string): EsdbClient {
    return new EsdbClient(this.url, this.discovery, node);
  }

  #replace(open: EsdbClient, next: EsdbClient, reason: string): void {
    if (open !== this.#current || this.#closed) return;
    this.#current = next;
    if (performance.now() - this.#loggedAt > LOG_AGAIN_MS) {
      this.#loggedAt = performance.now();
      this.log.warn({ reason }, 'replacing the connection to the event log');
    }
    open
      .close()
      .catch((error: unknown) => this.log.warn({ err: error }, 'could not close the old connection'));
  }
}
