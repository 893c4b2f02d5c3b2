import { addressOf, type PartUrlName } from '@berth/config';
import { isDomainError } from '@berth/kernel';
import { redactText, type Logger } from '@berth/telemetry';

/** Backing services that start together are up within a second; only a longer wait is worth a log line. */
const SILENT_MS = 1_000;
const REPEAT_EVERY_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** Logged while the first attempt is running. */
const NO_REASON = 'no response yet';

/** A backing service that a process needs before it can start. */
export interface AwaitedPart {
  /** The name in log messages, for example `the event log`. */
  readonly what: string;
  readonly variable: PartUrlName;
  readonly url: string;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

/**
 * Calls `open` until the backing service is available and returns the result. Waits without limit, because a supervisor
 * starts processes in any order. Logs what it waits for, where, and the last error, after a second and then every 10 s.
 * Rethrows anything but DomainError('unavailable') immediately; throws the reason of `signal` when that aborts.
 */
export const awaitPart = async <T>(part: AwaitedPart, open: () => Promise<T>): Promise<T> => {
  const notice = new WaitingNotice(part);
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await unlessAborted(open(), part.signal);
      } catch (error) {
        if (part.signal?.aborted === true || !isDomainError(error, 'unavailable')) throw error;
        notice.failedWith(reasonOf(error));
      }
      await unlessAborted(new Promise((resolve) => setTimeout(resolve, pauseMs)), part.signal);
    }
  } finally {
    notice.end();
  }
};

/** Logs that the process is waiting, even while a single attempt hangs. */
class WaitingNotice {
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #loggedAt: number | undefined;
  #reason = NO_REASON;

  constructor(private readonly part: AwaitedPart) {
    this.#timer = setInterval(() => this.#logWhenDue(), 250);
  }

  failedWith(reason: string): void {
    // Log the first reason separately: a part may take long to refuse.
    if (this.#reason === NO_REASON) this.#loggedAt = undefined;
    this.#reason = reason;
    this.#logWhenDue();
  }

  end(): void {
    clearInterval(this.#timer);
    const { what, log } = this.part;
    if (this.#loggedAt !== undefined) log.info(`Stopped waiting for ${what}.`);
  }

  #logWhenDue(): void {
    const now = performance.now();
    const dueAt = this.#loggedAt === undefined ? this.#began + SILENT_MS : this.#loggedAt + REPEAT_EVERY_MS;
    if (now < dueAt) return;
    this.#loggedAt = now;
    const { what, variable, url, log } = this.part;
    log.warn(`Waiting for ${what} at ${addressOf(url)} (${variable}): ${this.#reason}`);
  }
}

const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
};

/** The first line of the innermost cause: the message of the operating system or the server. */
const reasonOf = (error: unknown): string => {
  let innermost = error;
  for (let depth = 0; depth < 8; depth++) {
    const next = causeOf(innermost);
    if (next === undefined) break;
    innermost = next;
  }
  const text = innermost instanceof Error ? innermost.message : String(innermost);
  return redactText(text.split('\n')[0] ?? '').slice(0, 300) || 'unknown error';
};

const causeOf = (error: unknown): unknown => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors[0];
  if (!(error instanceof Error)) return undefined;
  if (error.cause !== undefined && error.cause !== null) return error.cause;
  return 'driverError' in error && error.driverError !== error ? error.driverError : undefined;
};
