import type { TaskEnd } from '../driver/task-spec.js';

/** The reason why a command of a build failed; null if it succeeded. */
export const problemOf = (end: TaskEnd): string | null => {
  switch (end.how) {
    case 'exited':
      if (end.code === 0) return null;
      return end.code === 137
        ? 'was killed; it may have needed more memory than the agent has'
        : `exited with code ${end.code}`;
    case 'killed':
      return end.signal === 'SIGKILL'
        ? 'was killed; it may have needed more memory than the agent has'
        : `was ended by ${end.signal}`;
    case 'disk_full':
      return 'stored more than a build may';
    case 'aborted':
      return 'was ended';
  }
};
