import { setTimeout as delay } from 'node:timers/promises';

/** Polls `condition` until it holds (true) or `withinMs` has passed (false). */
export async function becomesTrue(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  everyMs = 20,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await delay(everyMs);
  }
}
