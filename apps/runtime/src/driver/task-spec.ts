import type { BoxLimits, BoxSpec } from './box-spec.js';

/** A command that runs to its end in a box of its own, without a guest; for example the build of a version. */
export interface TaskSpec {
  /** `dep_…`: names the box. `Driver.list` and `Driver.stop` know it by this name. */
  readonly taskId: string;
  /**
   * Folder of the host (`Driver.codeFolder`), which only the task can write to while it runs. The task finds it where a
   * box with this source finds its code, and runs in it.
   */
  readonly folder: string;
  /** For `sh`. */
  readonly script: string;
  /** Besides `PATH`, `HOME`, `TMPDIR` and `LANG`. */
  readonly env: Readonly<Record<string, string>>;
  /** `diskBytes` counts the folder and everything else that the task stores. */
  readonly limits: BoxLimits;
  readonly network: BoxSpec['network'];
}

/** How a task ended. */
export type TaskEnd =
  | { readonly how: 'exited'; readonly code: number }
  /** `KILL` also by the kernel, when the task had no memory left. */
  | { readonly how: 'killed'; readonly signal: string }
  | { readonly how: 'disk_full' }
  | { readonly how: 'aborted' };
