/** Sizes an enclosure is held to, where the host can. */
export interface EnclosureLimits {
  readonly memoryBytes: number;
  readonly processes: number;
}

/** What keeps an agent's processes together, whatever they do, so that all of them can be stopped or ended. */
export interface Enclosure {
  /** Makes ready for an agent's first process; answers the files into which that process writes its id to join. */
  create(agentId: string, limits: EnclosureLimits): Promise<readonly string[]>;
  pids(agentId: string): Promise<readonly number[]>;
  /** Resolves when not one of them runs any more. */
  freeze(agentId: string): Promise<void>;
  thaw(agentId: string): Promise<void>;
  isFrozen(agentId: string): Promise<boolean>;
  /** KILLs all, until none is left. */
  kill(agentId: string): Promise<void>;
  /** Agents that have processes. */
  list(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How long all processes of an agent may take to obey the kernel, in milliseconds. */
export const OBEYED_WITHIN_MS = 5_000;
