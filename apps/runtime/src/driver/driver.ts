import type { Json } from '@berth/kernel';
import type { VolumeStorage } from '@berth/guest-protocol';
import type { Template } from '@berth/templates';

/** Input for a new box. */
export interface BoxRequest {
  readonly agentId: string;
  readonly template: Template;
  readonly memMb: number;
}

/** The user of the agent's own processes. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Paths as the agent's program sees them. */
export interface InsidePaths {
  readonly volume: string;
  readonly tmp: string;
  /** The template's folder, which is the working directory of its command. */
  readonly template: string;
  /** `PATH` for commands. */
  readonly path: string;
  /** The guest's own paths to the volume and its staging folder, both below one mount. */
  readonly storage: VolumeStorage;
}

/** An agent's isolated processes, with its guest running among them. */
export interface Box {
  readonly agentId: string;
  /** Path of the guest's socket on the host. */
  readonly socket: string;
  readonly inside: InsidePaths;
  /** null: the same user as the guest. */
  readonly runAs: RunAs | null;
  /** State that a later host process passes to `find`. Contains no secret. */
  readonly record: Json;
  /** Resolves when the guest has exited, for any reason. */
  readonly gone: Promise<void>;
}

/** Runs agents. Callers make one call at a time per agent. */
export interface Driver {
  readonly name: string;
  /** Prepares the driver; call it once. Throws if the host cannot run agents with it. */
  open(): Promise<void>;
  /** Creates what is missing and starts the guest, without a program. */
  start(request: BoxRequest): Promise<Box>;
  /** The box of that record, if it is still alive. */
  find(agentId: string, record: Json): Promise<Box | undefined>;
  freeze(agentId: string): Promise<void>;
  thaw(agentId: string): Promise<void>;
  isFrozen(agentId: string): Promise<boolean>;
  /** Ends every process of the agent: TERM, then KILL after `graceMs`. Keeps the volume. A no-op if nothing runs. */
  end(agentId: string, graceMs: number): Promise<void>;
  /** Ends the agent and deletes all its data. A no-op for an unknown agent. */
  remove(agentId: string): Promise<void>;
  /** Ids of the agents that have processes, with or without a record. */
  list(): Promise<readonly string[]>;
  freeMemMb(): number;
  /** Releases the driver's resources on the host, if no agent is running. */
  close(): Promise<void>;
}
