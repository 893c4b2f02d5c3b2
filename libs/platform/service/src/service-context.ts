import { setMaxListeners } from 'node:events';
import type { Logger } from '@berth/telemetry';

/** What a process gives to one of its services. */
export interface LaunchOptions<Config> {
  readonly config: Config;
  readonly log: Logger;
  /** Aborts the start, e.g. while it waits for a backing service. */
  readonly signal?: AbortSignal;
}

/** One running service: what it was launched with, and when it stops. */
export class ServiceContext<Config = unknown> {
  readonly config: Config;
  readonly log: Logger;
  /** Aborts the start; also when the start fails elsewhere. */
  readonly startSignal: AbortSignal;
  /** Closed last, in reverse order, also when the start fails. */
  readonly resources = new AsyncDisposableStack();
  readonly #stopping = new AbortController();

  constructor(
    readonly name: string,
    options: LaunchOptions<Config>,
  ) {
    this.config = options.config;
    this.log = options.log;
    // One listener for each caller that waits.
    setMaxListeners(0, this.#stopping.signal);
    const { signal: stopping } = this.#stopping;
    this.startSignal = options.signal === undefined ? stopping : AbortSignal.any([options.signal, stopping]);
  }

  /** Aborts as soon as the service begins to stop, before it waits for running requests. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  beginToStop(): void {
    this.#stopping.abort();
  }
}
