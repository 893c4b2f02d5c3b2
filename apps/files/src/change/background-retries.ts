import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import pRetry, { type Options } from 'p-retry';

const ATTEMPTS: Options = {
  retries: Infinity,
  maxRetryTime: 600_000,
  minTimeout: 200,
  maxTimeout: 15_000,
  randomize: true,
};
/**
 * Limit of concurrent retries; further ones are dropped, so that an outage of the event store does not fill the memory.
 */
const MAX_PENDING = 1_000;

/** Retries work in the background after the caller got its response, for ten minutes at most. */
@Injectable()
export class BackgroundRetries implements BeforeApplicationShutdown {
  readonly #ending = new AbortController();
  readonly #pending = new Set<Promise<void>>();

  constructor(private readonly log: Logger) {}

  /** `attempt` must be idempotent. */
  begin(what: { readonly what: string; readonly agentId: string }, attempt: () => Promise<unknown>): void {
    if (this.#ending.signal.aborted || this.#pending.size >= MAX_PENDING) {
      this.log.error(what, 'dropped a background retry');
      return;
    }
    const work = this.#keepTrying(what, attempt).finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Ends all retries and drops what has not succeeded. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#pending);
  }

  async #keepTrying(what: object, attempt: () => Promise<unknown>): Promise<void> {
    try {
      await pRetry(attempt, { ...ATTEMPTS, signal: this.#ending.signal });
    } catch (error) {
      this.log.error({ ...what, err: error }, 'gave up a background retry');
    }
  }
}
