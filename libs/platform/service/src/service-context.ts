import { setMaxListeners } from 'node:events';
import { systemClock, type Clock } from '@berth/kernel';
import type { ProcessHandlers } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';

/** The dependencies that a process passes to each of its services. */
export interface LaunchOptions<Config> {
  readonly config: Config;
  readonly log: Logger;
  /** Aborts the start, e.g. while it waits for a backing service. */
  readonly signal?: AbortSignal;
  /** The clock of the service's business rules. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Shared by the services of one process: requests between them do not pass the broker. */
  readonly handlers?: ProcessHandlers;
}

/** One running service: what it was launched with, and when it stops. */
export class ServiceContext<Config = unknown> {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly handlers: ProcessHandlers | undefined;
  /** Aborts when the start is abandoned: its caller aborted it, or the service stops because a part of it failed. */
  readonly startSignal: AbortSignal;
  /** Closed after everything else has stopped, in reverse order; also when the start fails. */
  readonly resources = new AsyncDisposableStack();
  /** The id of the host, for a service that runs once on each host; otherwise undefined. */
  readonly host: string | undefined;
  readonly #stopping = new AbortController();
  readonly #afterStart: (() => void)[] = [];
  readonly #beforeStop: (() => Promise<void>)[] = [];
  readonly #drains: ((withinMs: number) => Promise<void>)[] = [];

  constructor(
    readonly name: string,
    options: LaunchOptions<Config>,
    host?: string,
  ) {
    this.host = host;
    this.config = options.config;
    this.log = options.log;
    this.clock = options.clock ?? systemClock;
    this.handlers = options.handlers;
    // Each waiting caller adds a listener, and Node warns about a leak when there are more than ten.
    setMaxListeners(0, this.#stopping.signal);
    const { signal: stopping } = this.#stopping;
    this.startSignal = options.signal === undefined ? stopping : AbortSignal.any([options.signal, stopping]);
  }

  /** Aborts as soon as the service begins to stop, before it waits for running requests. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Calls `work` once the service handles requests. */
  afterStart(work: () => void): void {
    this.#afterStart.push(work);
  }

  /** Calls `work` when the service begins to stop. The service handles requests until the promise of `work` resolves. */
  beforeStop(work: () => Promise<void>): void {
    this.#beforeStop.push(work);
  }

  /** Registers what stops accepting calls, and resolves when those in flight have ended, after `withinMs` at the latest. */
  onDrain(work: (withinMs: number) => Promise<void>): void {
    this.#drains.push(work);
  }

  /** Runs the work that `onDrain` registered. The service goes on otherwise; it is to be stopped afterwards. */
  async drain(withinMs: number): Promise<void> {
    await Promise.all(this.#drains.map((work) => work(withinMs)));
  }

  /** Runs the work that `afterStart` registered. */
  started(): void {
    for (const work of this.#afterStart) work();
  }

  /** Aborts `stopping`, and resolves when the service may stop handling requests. */
  async beginToStop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#beforeStop.map((work) => work()));
  }
}
