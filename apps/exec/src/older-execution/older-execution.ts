import type { Decider } from '@berth/kernel';

/** A command is about to be sent to an older guest, which keeps no result. The command itself is not stored. */
export interface OlderExecutionSubmitted {
  readonly type: 'OlderExecutionSubmitted';
  readonly executionId: string;
  readonly agentId: string;
  readonly commandBytes: number;
  readonly commandSha256: string;
  /** ISO 8601. */
  readonly at: string;
}

export type SubmitOlderExecution = Omit<OlderExecutionSubmitted, 'type'>;

export type OlderExecution = 'none' | 'submitted';

/** A stream is one command, so it has one event. */
export const olderExecutionDecider: Decider<OlderExecution, SubmitOlderExecution, OlderExecutionSubmitted> = {
  initial: 'none',
  decide: (command, state) => (state === 'none' ? [{ type: 'OlderExecutionSubmitted', ...command }] : []),
  evolve: () => 'submitted',
};
