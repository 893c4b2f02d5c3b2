import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '@berth/persistence';
import { isTransient, mapLogError } from './esdb-errors.js';

/** How long a caller waits for the log, whatever fails meanwhile. */
const BUDGET_MS = 4_000;
/** How long one attempt is listened to. */
const ATTEMPT_MS = 2_500;
const LEAST_ATTEMPT_MS = 100;

/** The log left a call without an answer. */
class Silence extends Error {
  override readonly name = 'Silence';

  constructor() {
    super('The event log did not answer.');
  }
}

/** The connection of a call was given up while the call waited. */
export class ConnectionReplaced extends Error {
  override readonly name = 'ConnectionReplaced';

  constructor() {
    super('The connection to the event log was replaced.');
  }
}

export const isSilence = (error: unknown): boolean => error instanceof Silence;

/** Long enough for what has arrived to be looked at by a process that was busy. */
const untilLookedAt = async (): Promise<void> => {
  await nextTurn();
  await nextTurn();
};

/** Calls `expired` when `millis` have passed since the last `refresh()`, and what arrived meanwhile was looked at. */
export class Patience {
  readonly #timer: NodeJS.Timeout;
  #refreshed = false;

  constructor(
    millis: number,
    private readonly expired: (silence: Error) => void,
  ) {
    this.#timer = setTimeout(() => void this.#expire(), Math.max(0, millis));
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
    await untilLookedAt();
    if (!this.#refreshed) this.expired(new Silence());
  }
}

/**
 * Stops waiting after `millis`, or when `gone` aborts; some failures inside the client never settle its promise. An
 * answer that has arrived and that this process was too busy to look at still counts.
 */
export const withinTime = async <T>(call: Promise<T>, millis: number, gone: AbortSignal): Promise<T> => {
  let patience: Patience | undefined;
  let onGone = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    patience = new Patience(millis, reject);
    onGone = () => reject(new ConnectionReplaced());
    if (gone.aborted) onGone();
    else gone.addEventListener('abort', onGone, { once: true });
  });
  try {
    return await Promise.race([call, over]);
  } finally {
    patience?.end();
    gone.removeEventListener('abort', onGone);
    call.catch(() => undefined);
    over.catch(() => undefined);
  }
};

/** Attempts until one succeeds or is refused for good, within 4 s; then throws that the log is away. */
export const persistently = async <T>(attempt: (timeoutMs: number) => Promise<T>): Promise<T> => {
  const giveUpAt = Date.now() + BUDGET_MS;
  for (let wait = 25; ; wait *= 2) {
    const remaining = giveUpAt - Date.now();
    try {
      return await attempt(Math.min(ATTEMPT_MS, remaining));
    } catch (error) {
      if (!isTransient(error) || Date.now() + wait + LEAST_ATTEMPT_MS > giveUpAt) throw mapLogError(error);
      await pause(wait);
    }
  }
};
