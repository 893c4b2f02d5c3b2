import { once } from 'node:events';
import type { Json } from '@berth/kernel';
import type { RunAsUser, VolumeStorage } from '@berth/guest-protocol';
import { machineMemory, type HostMemory } from './host-memory.js';
import type { BoxLimits, BoxSource, BoxSpec } from './box-spec.js';
import type { ImageBuildEnd, ImageBuildSpec, TaskEnd, TaskSpec } from './task-spec.js';

/** The user of the agent's own processes. */
export type RunAs = RunAsUser;

/** Paths as the agent's program sees them. */
export interface InsidePaths {
  readonly volume: string;
  readonly tmp: string;
  /** Folder of the agent's code, which is the working directory of its program. */
  readonly code: string;
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
  /** The agent's program: the spec's, or the image's own; null if there is none. */
  readonly command: readonly [string, ...string[]] | null;
  /** Variables of the image, which all others replace. */
  readonly imageEnv?: Readonly<Record<string, string>>;
  /** null: the same user as the guest. */
  readonly runAs: RunAs | null;
  /** State that a later host process passes to `find`. Contains no secret. */
  readonly record: Json;
  /** Resolves when the guest has exited, for any reason. */
  readonly gone: Promise<void>;
}

/** A box, or what is left of one, as the driver finds it on the host. */
export interface ListedBox {
  readonly agentId: string;
  /** The epoch that the box was started for; null if only leftovers without a guest remain. */
  readonly epoch: number | null;
}

/** The resources that a box uses; null if unknown on this host. */
export interface BoxStats {
  /** Memory in use, without caches that the kernel can drop. */
  readonly memoryBytes: number | null;
  /** Processor time since the box was started. */
  readonly cpuSeconds: number | null;
  /** Processes and threads. */
  readonly processes: number;
  /** How many processes the kernel has killed since the box was started because the box ran out of memory. */
  readonly oomKills: number | null;
}

/** The disk of all volumes of the host. */
export interface PromisedDisk {
  /** What they may hold. */
  readonly promisedBytes: number;
  /** What they take now. */
  readonly storedBytes: number;
}

/** What a driver offers on this host. */
export interface DriverCapabilities {
  /**
   * What separates agents. `none`: they run as the user of the runtime. `users`: each has a user of its own, but sees
   * the host's files, processes and network. `container`: each sees only its own.
   */
  readonly isolation: 'none' | 'users' | 'container';
  readonly sources: readonly BoxSource['kind'][];
  /** The limits that are enforced; the others are advisory. */
  readonly limits: readonly (keyof BoxLimits)[];
  readonly users: readonly BoxSpec['user'][];
  /** Whether it runs tasks. */
  readonly tasks: boolean;
  /** Why this host builds no Dockerfile, for the owner of a repository with one; null: it does. */
  readonly refusesDockerfiles: string | null;
  /** The networks that a box can have. `host`: every box has the host's network, regardless of its spec. */
  readonly network: 'host' | readonly BoxSpec['network'][];
  /** The runtime classes of containers that a box can have; none without containers. */
  readonly runtimeClasses: readonly string[];
}

/**
 * Runs boxes on this host; the injection token of the driver that the configuration names. Callers make one call at a
 * time per agent. Errors: `DriverError`; every other error is unexpected, and its text is for the operator's log only.
 */
export abstract class Driver {
  abstract readonly name: string;
  /** Known once the driver is open. */
  abstract readonly capabilities: DriverCapabilities;
  /** Prepares the driver; call it once. Errors: `host_unsuitable`. */
  abstract open(): Promise<void>;
  /**
   * Makes a source available on this host; call it before `start`. May take minutes, during which every other call to
   * the driver continues. Errors: `spec_unsupported`, `image_unavailable`, `host_unavailable`.
   */
  abstract prepare(source: BoxSource): Promise<void>;
  /**
   * Finds out which image a reference means now, and makes it available on this host. Returns the reference with the
   * digest. Errors: `spec_unsupported`, `image_unavailable`, `host_unavailable`; the reason of `signal`.
   */
  abstract pinImage(reference: string, insecure: boolean, signal: AbortSignal): Promise<string>;
  /**
   * Creates what is missing and starts the guest, without the agent's program. Replaces the agent's box if it has one.
   * Errors: `spec_unsupported` (nothing was done), `host_exhausted`, `host_unavailable`, `guest_not_started`.
   */
  abstract start(spec: BoxSpec): Promise<Box>;
  /**
   * Folder of the host for the code of a version, in a place that every box can reach. Does not exist until the caller
   * creates it; `remove` deletes it with the agent's data.
   */
  abstract codeFolder(agentId: string, deploymentId: string): string;
  /**
   * Runs a task to its end. When this resolves or rejects, no process of the task is left, and no box can write to its
   * folder. An abort of `signal` kills it. Errors: `spec_unsupported`, `host_exhausted`, `box_stuck`.
   */
  abstract runTask(spec: TaskSpec, onOutput: (chunk: Buffer) => void, signal: AbortSignal): Promise<TaskEnd>;
  /**
   * Builds a Dockerfile. When this resolves or rejects, no process of the build is left, and an image only if it ended as
   * `built`. An abort of `signal` kills it. Errors: `spec_unsupported`, `host_exhausted`, `host_unavailable`, `box_stuck`.
   */
  abstract buildImage(
    spec: ImageBuildSpec,
    onOutput: (chunk: Buffer) => void,
    signal: AbortSignal,
  ): Promise<ImageBuildEnd>;
  /** Deletes the image that a task has built; a no-op if there is none. Errors: `host_unavailable`. */
  abstract removeBuiltImage(taskId: string): Promise<void>;
  /** The box of that record, if its guest is still alive. */
  abstract find(agentId: string, record: Json): Promise<Box | undefined>;
  /** Stops every process of the agent where it is. Errors: `box_absent`, `box_stuck` (it runs on). */
  abstract freeze(agentId: string): Promise<void>;
  /** Errors: `box_absent`, `box_stuck`. */
  abstract thaw(agentId: string): Promise<void>;
  abstract isFrozen(agentId: string): Promise<boolean>;
  /**
   * Ends every process of the agent, frozen or not: TERM, then KILL after `graceMs` at the latest. Keeps the volume. A no-op if
   * nothing runs. Errors: `box_stuck`.
   */
  abstract stop(agentId: string, graceMs: number): Promise<void>;
  /** Ends the agent and deletes all its data. A no-op for an unknown agent. Errors: `box_stuck`. */
  abstract remove(agentId: string): Promise<void>;
  /** Whether boxes can be started at present; false if that is not known within `withinMs`. */
  abstract canStart(withinMs: number): Promise<boolean>;
  /** Whether this host has the software for boxes with the source `desktop` now. */
  abstract hasDesktops(): Promise<boolean>;
  /** Every agent of this installation that has processes here, with or without a record. */
  abstract list(): Promise<readonly ListedBox[]>;
  /** Returns the resources that the agent's box uses; null if it has none. Works for frozen boxes. */
  abstract stats(agentId: string): Promise<BoxStats | null>;
  /** Bytes that the agent's volume takes on disk; null if unknown. Works without a box. */
  abstract volumeBytes(agentId: string): Promise<number | null>;
  /** Bytes that the agent's processes have written to disks, as the kernel counts them; null without processes. */
  abstract writtenBytes(agentId: string): Promise<number | null>;
  /** Number of files that the agent has on the disk of the host; null where its volume is a file system of its own. */
  fileCount(_agentId: string): Promise<number | null> {
    return Promise.resolve(null);
  }
  /** null where volumes have no size. */
  promisedDisk(): Promise<PromisedDisk | null> {
    return Promise.resolve(null);
  }
  /** The memory of the host for boxes. */
  memoryMb(): HostMemory {
    return machineMemory();
  }
  /** Background work while the driver is open, until `signal` aborts; the caller runs it again when it throws. */
  async keepUp(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
  }
  /** Releases the driver's own resources. Boxes stay as they are. */
  abstract close(): Promise<void>;
}
