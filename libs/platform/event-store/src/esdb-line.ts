import {
  CancelledError,
  isCommandError,
  NotLeaderError,
  UnavailableError,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';
import { pause } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { closeChannel } from './esdb-channel.js';
import type { EsdbDiscovery } from './esdb-discovery.js';
import { ConnectionReplaced, isSilence } from './esdb-patience.js';
import type { EsdbUrl } from './esdb-url.js';

/** The nodes of the cluster are not asked again for their leader before this has passed. */
const LOOK_AGAIN_MS = 100;

/**
 * How long a connection may leave calls without any answer before the other nodes are asked whether another leads, and
 * before it is given up whatever they say. A slow machine makes the first wait, a dead connection needs the second.
 */
const SILENCE_MS = { suspicious: 2_000, dead: 15_000 };

const CALLS_ARE_SENT_MS = 100;

const SAY_AGAIN_MS = 10_000;

/** What the client does by itself and these classes do instead. */
interface ClientInside {
  createChannel: () => Promise<Channel>;
  handleError: () => Promise<void>;
}

/** One client with one connection, as long as that is of use. */
export class EsdbClient {
  readonly client: EventStoreDBClient;
  readonly #gone = new AbortController();
  #channel: Channel | undefined;
  #heardAt = performance.now();
  #waitingSince: number | undefined;
  #stranded = false;

  /** `node`: `host:port`; without it the URL's nodes are asked who leads. */
  constructor(
    url: EsdbUrl,
    private readonly discovery: EsdbDiscovery,
    private node?: string,
  ) {
    this.client = url.client();
    const inside = this.client as unknown as ClientInside;
    // Left to itself the client closes channels neither when it is disposed of nor when two failures at once make it
    // replace one twice, and goes to another node only when its own says that it is away.
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

  /** The node that this client talks to; throws when none is found. */
  async findNode(): Promise<string> {
    return (this.node ??= await this.discovery.findLeader());
  }

  /** Aborts when another client has taken its place: whoever waits for this one waits in vain. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** It found no node when it first needed one. The client keeps that failure and fails every later call with it. */
  get stranded(): boolean {
    return this.#stranded;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  /** Also an answer that comes when nobody waits for it any more shows that the connection lives. */
  async listen<T>(call: Promise<T>): Promise<T> {
    const result = await call;
    this.heard();
    return result;
  }

  asked(): void {
    this.#waitingSince ??= performance.now();
  }

  /** Something came from the server. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#waitingSince = undefined;
  }

  /** For how many milliseconds calls have been without any answer. */
  get silentFor(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }

  async close(): Promise<void> {
    this.#gone.abort();
    // A call that has its channel and is not sent yet would throw where nobody hears it, and end the process.
    await pause(CALLS_ARE_SENT_MS);
    // The streams that are under way first: the channel leaves them alone.
    await this.client.dispose();
    if (this.#channel !== undefined) closeChannel(this.#channel);
  }
}

/**
 * The way to the log's leader: one client at a time. A client is replaced as a whole when another node leads, which the
 * others know soon after one has frozen: left alone it would keep its connection until that node thaws.
 */
export class EsdbLine {
  #current: EsdbClient;
  #looking = false;
  #closed = false;
  #saidAt = -SAY_AGAIN_MS;

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

  /** Does one call, which must end with an error that `isSilence` knows where the server says nothing for long. */
  async call<T>(work: (open: EsdbClient) => Promise<T>): Promise<T> {
    const open = this.#current;
    if (open.gone.aborted) throw new ConnectionReplaced();
    open.asked();
    try {
      const result = await work(open);
      open.heard();
      return result;
    } catch (error) {
      this.failed(open, error);
      throw error;
    }
  }

  /** Draws the conclusion from what a call or a feed on that client failed with. */
  failed(open: EsdbClient, error: unknown): void {
    if (error instanceof ConnectionReplaced) return;
    if (open.stranded) this.#replace(open, this.#open(), 'no node was found');
    else if (isSilence(error)) {
      if (open.silentFor >= SILENCE_MS.dead) this.#replace(open, this.#open(), 'silent');
      else if (open.silentFor >= SILENCE_MS.suspicious) void this.#lookForAnother(open);
    } else if (error instanceof NotLeaderError) {
      open.heard();
      const { address, port } = error.leader;
      this.#replace(open, this.#open(`${address}:${port}`), 'not the leader');
    } else if (error instanceof UnavailableError || error instanceof CancelledError) {
      void this.#lookForAnother(open);
    } else if (error instanceof Error && isCommandError(error)) open.heard();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#current.close();
  }

  /** Its node is away or silent: another may lead by now. A connection to the same node comes back by itself. */
  async #lookForAnother(open: EsdbClient): Promise<void> {
    if (this.#looking || open !== this.#current) return;
    this.#looking = true;
    const candidate = this.#open();
    try {
      const [node, before] = [await candidate.findNode(), await open.findNode()];
      if (node !== before) this.#replace(open, candidate, 'its node is away or silent');
      await pause(LOOK_AGAIN_MS);
    } catch {
      // No node answers. The next call that fails looks again.
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
    if (performance.now() - this.#saidAt > SAY_AGAIN_MS) {
      this.#saidAt = performance.now();
      this.log.warn({ reason }, 'the connection to the event log is replaced');
    }
    open.close().catch((error: unknown) => this.log.warn({ err: error }, 'an old connection did not close'));
  }
}
