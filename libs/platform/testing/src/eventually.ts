import { setTimeout as sleep } from 'node:timers/promises';

/** Time-out and interval of the attempts. */
export interface EventuallyOptions {
  /** Default 15,000. A busy machine slows everything down, and only a failure takes this long. */
  readonly timeoutMs?: number;
  /** By default the first is 5, and each the double of the one before, up to 250: long waits are for slow work. */
  readonly intervalMs?: number;
}

/**
 * Calls `attempt` until it neither throws nor returns `false`, and returns its result. After `timeoutMs`, rethrows the
 * last error. A single attempt has no time limit.
 */
export const eventually = async <T>(
  attempt: () => T | Promise<T>,
  { timeoutMs = 15_000, intervalMs }: EventuallyOptions = {},
): Promise<T> => {
  const giveUpAt = Date.now() + timeoutMs;
  for (let pause = 5; ; pause = Math.min(2 * pause, 250)) {
    const last = await tryOnce(attempt);
    if (last.ok) return last.value;
    if (Date.now() >= giveUpAt) throw last.error;
    await sleep(intervalMs ?? pause);
  }
};

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

const tryOnce = async <T>(attempt: () => T | Promise<T>): Promise<Outcome<T>> => {
  try {
    const value = await attempt();
    return value === false
      ? { ok: false, error: new Error('The condition did not come true.') }
      : { ok: true, value };
  } catch (error) {
    return { ok: false, error };
  }
};
