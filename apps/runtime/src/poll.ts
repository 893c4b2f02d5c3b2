import { setTimeout as delay } from 'node:timers/promises';

/** Polls `condition` until it holds (true) or `withinMs` has passed (false), with intervals that grow to 50 ms. */
export const becomesTrue = async (condition: () => Promise<boolean>, withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await delay(pauseMs);
  }
};
