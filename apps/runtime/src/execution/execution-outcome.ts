import type { ExecutionOutcome } from '@berth/contracts/runtime';
import type { ExecutionReport } from '@berth/guest-protocol';

/** Converts a guest's report to the contract's outcome. */
export const toOutcome = ({
  status,
  exitCode,
  stdout,
  stderr,
  startedAt,
  endedAt,
}: ExecutionReport): ExecutionOutcome => ({ status, exitCode, stdout, stderr, startedAt, endedAt });
