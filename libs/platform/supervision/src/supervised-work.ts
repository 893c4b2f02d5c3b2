import { metrics, redactText, type Logger } from '@berth/telemetry';
import { backoff, pause } from './backoff.js';
import { NotReady, RestartLater } from './work-failures.js';

/** Runs until `signal` aborts, and then ends soon. Throws when it breaks. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** Work that is down, or has been restarted too recently to be trusted. */
export interface FailingWork {
  readonly work: string;
  /** The message of the last failure. */
  readonly error: string;
}

/** Times in milliseconds. */
export interface SupervisionTiming {
  /** The pause doubles from the first to the longest; half of each is random. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Work that has run for this long counts as recovered, and its next failure as a first one. */
  readonly steadyMs: number;
  /** Minimum interval between log lines about one series of failures. */
  readonly logEveryMs: number;
  /** How long work may be `NotReady` before that is reported. */
  readonly notReadyMs: number;
}

export const TIMING: SupervisionTiming = {
  firstPauseMs: 50,
  longestPauseMs: 1_000,
  steadyMs: 5_000,
  logEveryMs: 30_000,
  notReadyMs: 15_000,
};

const restarts = metrics.counter(
  'berth_background_restarts',
  'Restarts of background work after a failure.',
  ['service', 'work'],
);
const failing = metrics.gauge(
  'berth_background_failing',
  '1 from a failure of background work until it has run for 5 s again, otherwise 0.',
  ['service', 'work'],
);

/** One piece of work and its current series of failures. */
export class SupervisedWork {
  /** Failures without 5 s of work in between. */
  #failures = 0;
  #failingSince = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #lastError: string | undefined;

  constructor(
    private readonly labels: { readonly service: string; readonly work: string },
    private readonly work: Work,
    private readonly log: Logger,
    private readonly timing: SupervisionTiming,
  ) {}

  /** Undefined while the work runs as it should. */
  get failure(): FailingWork | undefined {
    return this.#lastError === undefined ? undefined : { work: this.labels.work, error: this.#lastError };
  }

  /** Runs the work again and again until `signal` aborts. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const error = await this.#untilItBreaks(signal);
      if (!signal.aborted) await pause(this.#failed(error), signal);
    }
  }

  async #untilItBreaks(signal: AbortSignal): Promise<unknown> {
    const steady = setTimeout(() => this.#recovered(), this.timing.steadyMs).unref();
    try {
      await this.work(signal);
      return new Error('The work ended before the service did.');
    } catch (error) {
      return error;
    } finally {
      clearTimeout(steady);
    }
  }

  /** Returns the pause before the restart in milliseconds. */
  #failed(error: unknown): number {
    const now = performance.now();
    if (this.#failures === 0) this.#failingSince = now;
    const pauseMs = error instanceof RestartLater ? error.pauseMs : this.#backoff();
    this.#failures++;
    const isStarting = error instanceof NotReady && now - this.#failingSince < this.timing.notReadyMs;
    if (!isStarting) this.#report(error, now, pauseMs);
    return pauseMs;
  }

  #backoff(): number {
    return backoff(this.#failures, this.timing.firstPauseMs, this.timing.longestPauseMs);
  }

  #report(error: unknown, now: number, pauseMs: number): void {
    restarts.inc(this.labels);
    failing.set(1, this.labels);
    this.#lastError = redactText(messageOf(error));
    if (now - this.#loggedAt < this.timing.logEveryMs) return;
    this.#loggedAt = now;
    this.log.warn(
      { work: this.labels.work, err: error, failures: this.#failures, pauseMs: Math.round(pauseMs) },
      'Background work failed; restarting it.',
    );
  }

  #recovered(): void {
    const failures = this.#failures;
    this.#failures = 0;
    if (this.#lastError === undefined) return;
    this.#lastError = undefined;
    this.#loggedAt = Number.NEGATIVE_INFINITY;
    failing.set(0, this.labels);
    this.log.info({ work: this.labels.work, failures }, 'Background work runs again.');
  }
}

/** The message with those of its causes: the error of an outage says only that the caller may try again. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${messageOf(error.cause)})` : error.message;
};
