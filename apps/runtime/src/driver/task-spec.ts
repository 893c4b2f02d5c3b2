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
  readonly runtimeClass: BoxSpec['runtimeClass'];
}

/** An image that a Dockerfile takes files from. */
export interface BaseImage {
  /** The name under which BuildKit requests it. */
  readonly name: string;
  /** The complete reference. */
  readonly reference: string;
  /** Whether its registry may be reached without TLS. */
  readonly insecure: boolean;
}

/** The Dockerfile in `folder`, to be built into an image under the bounds of a task. */
export interface ImageBuildSpec extends Omit<TaskSpec, 'script' | 'env'> {
  /** The host makes them available; the build itself reaches no registry of the operator's own network. */
  readonly images: readonly BaseImage[];
}

/** The outcome of a task. */
export type TaskEnd =
  | { readonly how: 'exited'; readonly code: number }
  /** `KILL` also by the kernel, when the task had no memory left. */
  | { readonly how: 'killed'; readonly signal: string }
  | { readonly how: 'disk_full' }
  | { readonly how: 'aborted' };

/** The outcome of building an image. `image`: its reference with its digest; it is on this host. */
export type ImageBuildEnd = { readonly how: 'built'; readonly image: string } | TaskEnd;
