import type { ExecutionOutcome } from '@berth/contracts-runtime';
import type { ExecutionReport } from '@berth/guest-protocol';

/** What a guest reported, as others hear it. */
export const toOutcome = ({
  status,
  exitCode,
  stdout,
  stderr,
  startedAt,
  endedAt,
}: ExecutionReport): ExecutionOutcome => ({ status, exitCode, stdout, stderr, startedAt, endedAt });
