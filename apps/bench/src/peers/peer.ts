import type { Environment } from '../programs/child-environment.js';

/** A running container and the command line that runs programs in it, as an operator would. */
export interface ContainerPeer {
  readonly name: 'docker exec' | 'runc exec';
  /** One start of the command line; throws `BenchError` when the command ends with another code than 0. */
  exec(command: readonly string[]): Promise<void>;
  /** Takes the container away, and with it all that was started or written for it. */
  close(): Promise<void>;
}

/** What an implementation is given: a folder of its own, and where programs are. */
export interface PeerPlace {
  readonly folder: string;
  readonly env: Environment;
  readonly folders: readonly string[];
  /** A statically linked BusyBox: all that is in the container. */
  readonly busybox: string;
}
