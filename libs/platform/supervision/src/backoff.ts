import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `millis`, or until `signal` aborts; never throws. */
export const pause = async (millis: number, signal?: AbortSignal): Promise<void> => {
  if (signal?.aborted === true) return;
  await sleep(millis, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

/**
 * Milliseconds to wait before retry `attempt` (0, 1, …): a random number between half of a ceiling and the ceiling, which
 * doubles from `first` up to `most`.
 */
export const backoff = (attempt: number, first = 100, most = 5_000): number => {
  const ceiling = Math.min(most, first * 2 ** Math.min(attempt, 20));
  return ceiling / 2 + Math.random() * (ceiling / 2);
};
