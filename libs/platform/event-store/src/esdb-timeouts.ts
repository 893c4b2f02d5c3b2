import { setImmediate as nextTurn } from 'node:timers/promises';
import { detach } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { isTransient, mapLogError } from './esdb-errors.js';

/** Longest pause between two attempts, so that a call succeeds soon after the log is back. */
const LONGEST_WAIT_MS = 400;

/** How long a caller waits for the log in total. */
const BUDGET_MS = 4_000;
/** How long one attempt may take. */
const ATTEMPT_MS = 2_500;
const LEAST_ATTEMPT_MS = 100;

/** The log did not respond to a call. */
class Silence extends Error {
  override readonly name = 'Silence';

  constructor() {
    super('The event log did not respond.');
  }
}

/** The connection was replaced while a call waited on it. */
export class ConnectionReplaced extends Error {
  override readonly name = 'ConnectionReplaced';

  constructor() {
    super('The connection to the event log was replaced.');
  }
}

export const isSilence = (error: unknown): boolean => error instanceof Silence;

/** Lets a process that was busy handle the data that has already arrived. */
const untilArrivedIsHandled = async (): Promise<void> => {
  await nextTurn();
  await nextTurn();
};

/** Calls `expired` when `millis` have passed since the last `refresh()` and all data that arrived was handled. */
export class SilenceTimer {
  readonly #timer: NodeJS.Timeout;
  #refreshed = false;

  constructor(
    millis: number,
    private readonly expired: (silence: Error) => void,
  ) {
    this.#timer = setTimeout(() => detach(this.#expire()), Math.max(0, millis));
  }

  refresh(): void {
    this.#refreshed = true;
    this.#timer.refresh();
  }

  end(): void {
    this.#refreshed = true;
    clearTimeout(this.#timer);
  }

  async #expire(): Promise<void> {
    this.#refreshed = false;
    await untilArrivedIsHandled();
    if (!this.#refreshed) this.expired(new Silence());
  }
}

/**
 * Stops waiting after `millis` or when `gone` aborts, because some failures inside the client never settle its promise.
 * A response that has arrived but is not handled yet, because this process was busy, still counts.
 */
export const withinTime = async <T>(call: Promise<T>, millis: number, gone: AbortSignal): Promise<T> => {
  let timer: SilenceTimer | undefined;
  let onGone = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    timer = new SilenceTimer(millis, reject);
    onGone = () => reject(new ConnectionReplaced());
    if (gone.aborted) onGone();
    else gone.addEventListener('abort', onGone, { once: true });
  });
  try {
    return await Promise.race([call, over]);
  } finally {
    timer?.end();
    gone.removeEventListener('abort', onGone);
    call.catch(() => undefined);
    over.catch(() => undefined);
  }
};

/** How long an attempt may take until the next one is made, and how long all of them together may, in milliseconds. */
export interface Timeouts {
  readonly attemptMs: number;
  readonly totalMs: number;
}

/** Repeats `attempt` for up to 4 s until it succeeds or fails permanently; then throws that the log is unavailable. */
export const withRetries = async <T>(attempt: (timeouts: Timeouts) => Promise<T>): Promise<T> => {
  const giveUpAt = performance.now() + BUDGET_MS;
  for (let wait = 25; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const totalMs = giveUpAt - performance.now();
    try {
      return await attempt({ attemptMs: Math.min(ATTEMPT_MS, totalMs), totalMs });
    } catch (error) {
      if (!isTransient(error) || performance.now() + wait + LEAST_ATTEMPT_MS > giveUpAt)
        throw mapLogError(error);
      await pause(wait);
    }
  }
};
