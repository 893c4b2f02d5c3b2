/** The final statuses of an execution. */
export const ENDED_STATUSES = ['completed', 'timed_out', 'cancelled', 'failed'] as const;
export const EXECUTION_STATUSES = ['running', ...ENDED_STATUSES] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];
