import type { ExecutionStatus, ExecutionView } from '@berth/contracts/hosting';

/** An execution as the API shows it: two fields while it runs, five afterwards. */
export type ExecutionResponse =
  | { readonly executionId: string; readonly status: ExecutionStatus }
  | {
      readonly executionId: string;
      readonly status: ExecutionStatus;
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
    };

/** The response of older guests: both streams in `stdout`. */
export interface LegacyExecutionResponse {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: '';
}

export const executionResponse = ({
  executionId,
  status,
  exitCode,
  stdout,
  stderr,
}: ExecutionView): ExecutionResponse =>
  status === 'running'
    ? { executionId, status }
    : { executionId, status, exitCode: exitCode ?? -1, stdout: stdout ?? '', stderr: stderr ?? '' };
