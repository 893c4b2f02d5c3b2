import type { ExecutionGroupsParent } from '@berth/guest-protocol';
import type { BoxStats } from '../driver.js';

/** Limits of a process group, applied where the host supports them. */
export interface ProcessGroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Groups all processes of an agent, including any it forks, so that they can be frozen or killed together. */
export interface ProcessGroup {
  /** Prepares for an agent's first process. Returns the files into which that process writes its id to join. */
  create(agentId: string, limits: ProcessGroupLimits): Promise<readonly string[]>;
  /** The group below which the guest makes groups for executions; undefined if there is none. */
  executionGroups(agentId: string): ExecutionGroupsParent | undefined;
  pids(agentId: string): Promise<readonly number[]>;
  /** Resolves when all processes have stopped. */
  freeze(agentId: string): Promise<void>;
  thaw(agentId: string): Promise<void>;
  isFrozen(agentId: string): Promise<boolean>;
  /** null if no process runs. */
  stats(agentId: string): Promise<BoxStats | null>;
  /** Sends KILL to all processes until the group is empty. */
  kill(agentId: string): Promise<void>;
  /** Ids of the agents that have processes. */
  list(): Promise<readonly string[]>;
  close(): Promise<void>;
}
