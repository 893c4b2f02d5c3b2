import type { Logger } from '@berth/telemetry';
import {
  SupervisedWork,
  TIMING,
  type FailingWork,
  type SupervisionTiming,
  type Work,
} from './supervised-work.js';

/**
 * Keeps the work of a service running for the service's lifetime: projections, relays, consumers, timers. Work throws
 * when it breaks; the supervisor alone restarts it, as a whole, with exponential backoff. It logs the first failure at
 * once and further ones every 30 s at most, and counts every restart.
 */
export class Supervisor {
  readonly #ending = new AbortController();
  readonly #works: SupervisedWork[] = [];
  readonly #running: Promise<void>[] = [];

  constructor(
    private readonly service: string,
    private readonly log: Logger,
    private readonly timing: SupervisionTiming = TIMING,
  ) {}

  /** Runs `work` until `stop`, and restarts it when it throws or ends before that. */
  start(name: string, work: Work): void {
    const supervised = new SupervisedWork({ service: this.service, work: name }, work, this.log, this.timing);
    this.#works.push(supervised);
    this.#running.push(supervised.run(this.#ending.signal));
  }

  /** The work that failed and has not run for 5 s since. */
  get failing(): readonly FailingWork[] {
    return this.#works.flatMap(({ failure }) => failure ?? []);
  }

  /** Called by Nest before the connections of the service close. */
  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Cancels all work and waits until it has ended. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}
