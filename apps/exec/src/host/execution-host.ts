import {
  runtimeRequests,
  type ExecuteCommand,
  type ExecuteLegacyCommand,
  type ExecutionOutcome,
  type FoundExecution,
  type LegacyOutcome,
  type PrecludedExecution,
  type Transfer,
  type TransferTicket,
} from '@berth/contracts/runtime';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import type { EndedStatus } from '../execution/execution.js';
import type { OwnedExecution } from '../execution/execution.repository.js';
import type { Result } from '../output/output-vault.js';

/** Time in addition to the command itself: TERM and KILL by the guest, draining, and the network. */
const SLACK_MS = 15_000;
const START_WITHIN_MS = 20_000;
/** The longest wait of one request (`FindExecution`). */
export const LONGEST_WAIT_MS = 20_000;

const executeRepeated = { ...runtimeRequests.execute, whenLost: 'repeat' } as const;

/** Requests to runtime hosts about executions. */
@Injectable()
export class ExecutionHosts {
  constructor(private readonly requester: Requester) {}

  /** Errors: see `runtimeRequests.execute`. */
  execute(host: string, command: ExecuteCommand): Promise<ExecutionOutcome> {
    // The requester caps deadlines at the longest timer; the caller then continues with `find`.
    const deadlineMs = command.wait ? command.timeoutMs + SLACK_MS : START_WITHIN_MS;
    return this.requester.request(runtimeRequests.execute, command, { host, deadlineMs });
  }

  /**
   * Like `execute`, for a command that may have started: the guest starts an id once, but a rejection proves nothing
   * about earlier attempts.
   */
  executeAgain(host: string, command: ExecuteCommand): Promise<ExecutionOutcome> {
    const deadlineMs = command.wait ? command.timeoutMs + SLACK_MS : START_WITHIN_MS;
    return this.requester.request(executeRepeated, command, { host, deadlineMs });
  }

  executeLegacy(host: string, command: ExecuteLegacyCommand): Promise<LegacyOutcome> {
    const deadlineMs = command.timeoutMs + SLACK_MS;
    return this.requester.request(runtimeRequests.executeLegacy, command, { host, deadlineMs });
  }

  find(host: string, { agentId, executionId }: OwnedExecution, waitMs: number): Promise<FoundExecution> {
    const bounded = Math.min(waitMs, LONGEST_WAIT_MS);
    return this.requester.request(
      runtimeRequests.findExecution,
      { agentId, executionId, waitMs: bounded },
      { host, deadlineMs: bounded + 5_000 },
    );
  }

  /** At the epoch of the execution. Errors: see `runtimeRequests.precludeExecution`. */
  preclude(
    host: string,
    { agentId, executionId, epoch }: OwnedExecution & { readonly epoch: number },
  ): Promise<PrecludedExecution> {
    return this.requester.request(
      runtimeRequests.precludeExecution,
      { agentId, executionId, epoch },
      { host },
    );
  }

  cancel(host: string, { agentId, executionId }: OwnedExecution): Promise<ExecutionOutcome> {
    return this.requester.request(runtimeRequests.cancelExecution, { agentId, executionId }, { host });
  }

  openTransfer(host: string, agentId: string, epoch: number, transfer: Transfer): Promise<TransferTicket> {
    return this.requester.request(runtimeRequests.openTransfer, { agentId, epoch, transfer }, { host });
  }
}

/** The result of an ended execution from its host's report; null while it runs. */
export const resultOf = (owned: OwnedExecution, outcome: ExecutionOutcome): Result | null => {
  const { status, exitCode, stdout, stderr, startedAt, endedAt } = outcome;
  if (status === 'running') return null;
  return {
    ...ownedOf(owned),
    status,
    exitCode: exitCode ?? -1,
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    startedAt,
    endedAt: endedAt ?? new Date().toISOString(),
  };
};

/** The result of an execution that is not known to have started, or whose data is lost. */
export const emptyResult = (
  owned: OwnedExecution,
  status: Extract<EndedStatus, 'cancelled' | 'failed'>,
): Result => ({
  ...ownedOf(owned),
  status,
  exitCode: -1,
  stdout: '',
  stderr: '',
  startedAt: null,
  endedAt: new Date().toISOString(),
});

const ownedOf = ({ executionId, accountId, agentId }: OwnedExecution): OwnedExecution => ({
  executionId,
  accountId,
  agentId,
});
