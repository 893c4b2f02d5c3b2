import type { Policy } from '@berth/contracts/schema';

/**
 * What a caller wants to do with an agent. `use`: a call that joins a start, or that finds the agent not running. `check`: a
 * call that will wake the agent once it has passed its other checks.
 */
export type Act = 'use' | 'check' | 'wake' | 'start' | 'restart' | 'create' | 'deploy';

/** The start from sleeping or stopped that an act would begin, by its epoch. Acts with the same epoch share one start. */
export interface Wake {
  readonly agentId: string;
  readonly epoch: number;
  /** The attempt of a command that begins it, if the same attempt may have checked it. */
  readonly attempt?: string;
}

/** A wake and the policy in force when it was admitted; with the same epoch, its start needs no other. */
export interface AdmittedWake extends Wake {
  readonly policy: Policy | null;
}
