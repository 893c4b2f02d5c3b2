import { setTimeout as sleep } from 'node:timers/promises';

/** Tries `check` until it answers something truthy without throwing; throws its last failure after `withinMs`. */
export const eventually = async <T>(check: () => T | Promise<T>, withinMs = 10_000): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
      if (Date.now() > deadline) throw new Error('The condition did not come true in time.');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(20);
  }
};
