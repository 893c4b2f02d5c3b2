import type { ExecutionStatus } from './exec.requests.js';

/** Public event `evt.exec.submitted.v1.<account>.<execution>`: a command was accepted and will be started. */
export type ExecutionSubmittedEvent = {
  readonly executionId: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly detached: boolean;
  /** ISO 8601. */
  readonly at: string;
};

/** Public event `evt.exec.ended.v1.<account>.<execution>`. */
export type ExecutionEndedEvent = {
  readonly executionId: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly status: Exclude<ExecutionStatus, 'running'>;
  /** From start to end, in milliseconds; 0 if it is not known to have started. */
  readonly durationMs: number;
  /** ISO 8601. */
  readonly at: string;
};

export const EXEC_EVENTS = ['submitted', 'ended'] as const;
export type ExecEventName = (typeof EXEC_EVENTS)[number];
