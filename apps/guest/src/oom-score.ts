import { writeFileSync } from 'node:fs';

/** Out of 1,000; far above a guest's share of the memory of any agent. */
const OOM_SCORE_ADJ = '800';
const ATTEMPTS = 20;
const AGAIN_AFTER_MS = 5;

/**
 * Makes the kernel kill this process and its children before the guest when the agent runs out of memory (proc(5),
 * `oom_score_adj`). Otherwise the kernel might kill the guest, and with it everything in the agent, because of many
 * small processes.
 */
export const killBeforeGuest = (pid: number | undefined, attempts = ATTEMPTS): void => {
  if (pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE_ADJ);
  } catch (error) {
    // The process has already exited, or it is just changing its user: until it has, the file is not ours to write.
    if (attempts > 1 && error instanceof Error && 'code' in error && error.code === 'EACCES')
      setTimeout(() => killBeforeGuest(pid, attempts - 1), AGAIN_AFTER_MS).unref();
  }
};
