import type { ExecutionStatus } from './execution-status.js';

/** An execution and its output; `exitCode`, `stdout` and `stderr` are null while it runs. */
export interface ExecutionView {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
}
