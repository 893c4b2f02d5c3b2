import { writeFileSync } from 'node:fs';

/** Of 1,000; far more than a guest's share of the memory of any agent. */
const FIRST_TO_GO = '800';

/**
 * Has the kernel end this process, and all it starts, before the guest when the agent's memory runs out (proc(5),
 * `oom_score_adj`). Otherwise many small processes would cost the guest its life, and with it everything in the agent.
 */
export const killBeforeGuest = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO);
  } catch {
    // It has ended already, or there is no such file.
  }
};
