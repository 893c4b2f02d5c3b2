import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `millis`, or until `signal` aborts; never throws. */
export const pause = async (millis: number, signal?: AbortSignal): Promise<void> => {
  if (signal?.aborted === true) return;
  await sleep(millis, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

/** Milliseconds to wait before attempt `attempt` (0, 1, …): doubles from `first` to `most`; half of it is random. */
export const backoff = (attempt: number, first = 100, most = 5_000): number => {
  const ceiling = Math.min(most, first * 2 ** Math.min(attempt, 20));
  return ceiling / 2 + Math.random() * (ceiling / 2);
};
