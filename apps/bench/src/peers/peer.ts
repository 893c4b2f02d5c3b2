import type { Environment } from '../programs/child-environment.js';

/** A running container and the command line that runs programs in it, as an operator would. */
export interface ContainerPeer {
  readonly name: 'docker exec' | 'runc exec';
  /** Runs the command line once; throws `BenchError` when the command's exit code is not 0. */
  exec(command: readonly string[]): Promise<void>;
  /** Removes the container and everything that was started or written for it. */
  close(): Promise<void>;
}

/** Inputs of an implementation: a dedicated folder, and the paths of programs. */
export interface PeerPlace {
  readonly folder: string;
  readonly env: Environment;
  readonly folders: readonly string[];
  /** A statically linked BusyBox: the only content of the container. */
  readonly busybox: string;
}
