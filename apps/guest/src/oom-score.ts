import { writeFileSync } from 'node:fs';

/** Out of 1,000; far above a guest's share of the memory of any agent. */
const FIRST_TO_GO = '800';

/**
 * Makes the kernel kill this process and its children before the guest when the agent runs out of memory (proc(5),
 * `oom_score_adj`). Otherwise many small processes could cost the guest its life, and with it everything in the agent.
 */
export const killBeforeGuest = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO);
  } catch {
    // The process has already exited, or the file does not exist.
  }
};
