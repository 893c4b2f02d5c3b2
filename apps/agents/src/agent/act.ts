/** What a caller wants to do with an agent. `use`: a call that joins a start, or that finds the agent not running. */
export type Act = 'use' | 'wake' | 'start' | 'restart' | 'create' | 'deploy';

/** The start from sleeping or stopped that an act would begin, by its epoch. Acts with the same epoch share one start. */
export interface Wake {
  readonly agentId: string;
  readonly epoch: number;
}
