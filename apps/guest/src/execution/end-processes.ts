import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
const KILL_EVERY_MS = 10;
/** How long to repeat KILL; a process that survives it hangs in the kernel and is not waited for. */
const KILL_FOR_MS = 1_000;

/** The processes of one execution, as far as they can be found. None of this starts a process: there may be no room. */
export interface EndableProcesses {
  /** Sends TERM to each process once, including those started since the last call. Returns their number. */
  terminate(): number;
  /** Sends KILL to all of them. Returns how many there were. */
  kill(): number;
}

/** Sends TERM, then KILL after `graceMs`. Resolves when no process is left that can be ended. */
export const endProcesses = async (processes: EndableProcesses, graceMs: number): Promise<void> => {
  const killAt = performance.now() + graceMs;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < killAt; pauseMs *= 1.5) {
    if (processes.terminate() === 0) return;
    await delay(Math.min(pauseMs, MAX_PAUSE_MS, Math.max(0, killAt - performance.now())));
  }
  const giveUpAt = performance.now() + KILL_FOR_MS;
  while (processes.kill() > 0 && performance.now() < giveUpAt) await delay(KILL_EVERY_MS);
};
