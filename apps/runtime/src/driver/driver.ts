import type { Json } from '@berth/kernel';
import type { VolumeStorage } from '@berth/guest-protocol';
import type { Template } from '@berth/templates';

/** What a box is made from. */
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

/** How the agent's program finds things: paths as they are inside the agent. */
export interface InsidePaths {
  readonly volume: string;
  readonly tmp: string;
  /** The template's folder, where its command runs. */
  readonly template: string;
  /** Search path for commands. */
  readonly path: string;
  /** How the guest itself reaches the volume and its staging folder, below one mount. */
  readonly storage: VolumeStorage;
}

/** One agent's enclosure with its guest running in it. */
export interface Box {
  readonly agentId: string;
  /** Where the guest listens, as the host sees it. */
  readonly socket: string;
  readonly inside: InsidePaths;
  /** null: as the guest itself. */
  readonly runAs: RunAs | null;
  /** What `find` needs to know it again after this process's end. Holds no secret. */
  readonly record: Json;
  /** Resolves when the guest is gone, for whatever reason. */
  readonly gone: Promise<void>;
}

/** Where agents run. Every call that names an agent is made one at a time for that agent. */
export interface Driver {
  readonly name: string;
  /** Makes ready, once; throws when the host cannot run agents this way. */
  open(): Promise<void>;
  /** Creates what is missing and starts the guest, without any program yet. */
  start(request: BoxRequest): Promise<Box>;
  /** The box of that record, if it still lives. */
  find(agentId: string, record: Json): Promise<Box | undefined>;
  freeze(agentId: string): Promise<void>;
  thaw(agentId: string): Promise<void>;
  isFrozen(agentId: string): Promise<boolean>;
  /** Ends every process of the agent: TERM, so many milliseconds, KILL. Nothing there: fine. The volume stays. */
  end(agentId: string, graceMs: number): Promise<void>;
  /** Ends it and removes all that is kept of it. Nothing there: fine. */
  remove(agentId: string): Promise<void>;
  /** Ids of the agents that have processes, known or not. */
  list(): Promise<readonly string[]>;
  freeMemMb(): number;
  /** Gives back what the driver holds of the host while no agent runs. */
  close(): Promise<void>;
}
