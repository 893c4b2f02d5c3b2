const TICK_MS = 10;

/** Measures time in which this process was able to run. */
export interface RunningTime {
  /** Stops measuring, and returns the milliseconds. */
  stop(): number;
}

/**
 * Starts to measure how long this process runs its event loop. Unlike elapsed time, the result does not contain the time in
 * which a busy machine ran other programs instead: a tick that comes late counts as two ticks at most. Use it for a bound on
 * what the process waits for.
 */
export const runningTime = (): RunningTime => {
  let total = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    total += Math.min(now - last, 2 * TICK_MS);
    last = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    stop: () => {
      clearInterval(timer);
      tick();
      return total;
    },
  };
};
