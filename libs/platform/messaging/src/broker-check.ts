import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { redactText, type Logger } from '@berth/telemetry';
import { DeadLetters } from './dead-letters.js';
import { EventStream } from './event-stream.js';
import { isNoStreamError } from './jetstream-errors.js';
import type { NatsLink } from './nats-link.js';
import { UnfitBroker } from './unfit-broker.js';

const API_TIMEOUT_MS = 4_000;
const RECHECK_MS = 10_000;

/** Long commands, and the output of commands as JSON, are sent in one message. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

export interface BrokerNeeds {
  /** Contexts whose events the service publishes. */
  readonly publishes?: readonly string[];
  /** Contexts whose events the service consumes; their dead letters need a stream. */
  readonly consumes?: readonly string[];
}

/** Whether the connected server accepts messages as large as ours. */
export const takesOurMessages = ({ connection }: NatsLink): boolean =>
  (connection.info?.max_payload ?? MAX_PAYLOAD_BYTES) >= MAX_PAYLOAD_BYTES;

/** Throws `UnfitBroker` when the server does not accept messages as large as ours. */
export const requireMaxPayload = (link: NatsLink): void => {
  if (takesOurMessages(link)) return;
  const bytes = link.connection.info?.max_payload;
  throw new UnfitBroker(
    `names a server that takes messages of at most ${bytes} bytes: set max_payload to ${MAX_PAYLOAD_BYTES} (8 MiB) on every server`,
  );
};

const SILENT_JETSTREAM =
  'names a server that accepts connections, but whose JetStream does not respond: look for a full disk and, in a cluster, ' +
  'for servers that are down; nats-server 2.9 works again only after a restart';

/** Whether the broker has what a service needs: large messages, JetStream, and the streams in its account. */
export class BrokerCheck {
  #problem: string | null = null;

  constructor(
    private readonly link: NatsLink,
    private readonly needs: BrokerNeeds,
    private readonly log: Logger,
  ) {}

  /** Checks again whenever the link is back, and while the broker is unfit; returns a function that stops it. */
  watch(): () => void {
    const check = (): void => void this.isFit().catch(() => undefined);
    const timer = setInterval(() => {
      if (this.#problem !== null && this.link.connected) check();
    }, RECHECK_MS).unref();
    this.link.beforeClose(() => Promise.resolve(clearInterval(timer)));
    const stop = this.link.onReconnect(check);
    return () => {
      clearInterval(timer);
      stop();
    };
  }

  /**
   * Like `require`, but returns the result and logs the reason of a change. Throws when the broker does not respond, and
   * logs it if only JetStream does not.
   */
  async isFit(): Promise<boolean> {
    try {
      await this.require();
      this.#report(null);
      return true;
    } catch (error) {
      if (error instanceof UnfitBroker) {
        this.#report(error.message);
        return false;
      }
      if (error instanceof errors.TimeoutError && (await this.link.acceptsConnections()))
        this.#report(SILENT_JETSTREAM);
      throw error;
    }
  }

  /**
   * Creates the missing streams. Throws `UnfitBroker` when the broker refuses, and another error when the broker does
   * not respond or refuses only temporarily.
   */
  async require(): Promise<void> {
    requireMaxPayload(this.link);
    const { publishes = [], consumes = [] } = this.needs;
    const manager = await jetstreamManager(this.link.connection, {
      checkAPI: false,
      timeout: API_TIMEOUT_MS,
    });
    await unlessRefused('JetStream', () => this.#requireAccount(manager));
    for (const context of publishes) {
      const stream = await EventStream.of(this.link, context);
      // The relay sets its limits.
      const { replicas } = this.link;
      const has = await unlessRefused(`the stream ${stream.name}`, async () => {
        const found = await stream.find();
        const isEnough = found !== null && found.config.num_replicas >= (replicas ?? 0);
        return isEnough ? found : stream.ensure();
      });
      this.#requireReplicas(stream.name, has.config.num_replicas);
    }
    for (const context of consumes) {
      const letters = await DeadLetters.of(this.link, context, '');
      await unlessRefused(`the stream ${letters.stream}`, () => letters.ensure());
    }
  }

  async #requireAccount(manager: JetStreamManager): Promise<void> {
    await manager.getAccountInfo();
  }

  /** A single server can never hold more than one replica; a cluster can, once more of its servers are up. */
  #requireReplicas(stream: string, has: number): void {
    const { replicas, connection } = this.link;
    if (replicas === undefined || has >= replicas) return;
    throw new UnfitBroker(
      `names servers of which too few can hold the stream ${stream}: it has ${has} replicas, NATS_REPLICAS wants ${replicas}`,
      { servesMeanwhile: connection.info?.cluster !== undefined },
    );
  }

  #report(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === null) this.log.info('The broker can serve again.');
    else this.log.error(`The broker cannot serve in full: NATS_URL ${problem}.`);
  }
}

/** Codes of temporary refusals: no leader yet, no peer available, another process was faster. */
const TEMPORARY = new Set([10_004, 10_005, 10_006, 10_007, 10_008, 10_009, 10_023, 10_058]);

/** Returns the result of `ask`. Throws `UnfitBroker` when JetStream refuses permanently. */
export const unlessRefused = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (isNoStreamError(error)) {
      throw new UnfitBroker(
        'names servers or an account without JetStream: enable jetstream on the servers and for the account',
        { cause: error, passesInCluster: true },
      );
    }
    const refused = error instanceof JetStreamApiError && !TEMPORARY.has(error.code);
    const denied = error instanceof Error && error.cause instanceof errors.PermissionViolationError;
    if (refused || denied) {
      throw new UnfitBroker(`names an account that refuses ${what}: ${redactText(error.message)}`, {
        cause: error,
      });
    }
    throw error;
  }
};
