import { Injectable } from '@nestjs/common';
import {
  runtimeRequests,
  type ExecuteCommand,
  type ExecuteLegacyCommand,
  type ExecutionOutcome,
  type FoundExecution,
  type LegacyOutcome,
  type Transfer,
  type TransferTicket,
} from '@berth/contracts/runtime';
import { Requester } from '@berth/messaging';
import type { Owned } from '../execution/execution.repository.js';
import type { EndedStatus } from '../execution/execution.js';
import type { Result } from '../output/output-vault.js';

/** Beside the command itself: the guest's TERM and KILL, the drain, the ways. */
const SLACK_MS = 15_000;
const START_WITHIN_MS = 20_000;
/** The longest that one question is held open (`FindExecution`). */
export const LONGEST_WAIT_MS = 20_000;

const executeRepeated = { ...runtimeRequests.execute, whenLost: 'repeat' } as const;

/** The runtime hosts, as executions speak to them. */
@Injectable()
export class ExecutionHosts {
  constructor(private readonly requester: Requester) {}

  /** Errors: see `runtimeRequests.execute`. */
  execute(host: string, command: ExecuteCommand): Promise<ExecutionOutcome> {
    // Waits beyond what one timer holds are cut there; the caller goes on with `find`.
    const deadlineMs = command.wait ? command.timeoutMs + SLACK_MS : START_WITHIN_MS;
    return this.requester.request(runtimeRequests.execute, command, { host, deadlineMs });
  }

  /** As `execute`, of a command that may have been started: the guest acts once, but a refusal says nothing of other tries. */
  executeAgain(host: string, command: ExecuteCommand): Promise<ExecutionOutcome> {
    const deadlineMs = command.wait ? command.timeoutMs + SLACK_MS : START_WITHIN_MS;
    return this.requester.request(executeRepeated, command, { host, deadlineMs });
  }

  executeLegacy(host: string, command: ExecuteLegacyCommand): Promise<LegacyOutcome> {
    const deadlineMs = command.timeoutMs + SLACK_MS;
    return this.requester.request(runtimeRequests.executeLegacy, command, { host, deadlineMs });
  }

  find(host: string, { agentId, executionId }: Owned, waitMs: number): Promise<FoundExecution> {
    const bounded = Math.min(waitMs, LONGEST_WAIT_MS);
    return this.requester.request(
      runtimeRequests.findExecution,
      { agentId, executionId, waitMs: bounded },
      { host, deadlineMs: bounded + 5_000 },
    );
  }

  cancel(host: string, { agentId, executionId }: Owned): Promise<ExecutionOutcome> {
    return this.requester.request(runtimeRequests.cancelExecution, { agentId, executionId }, { host });
  }

  openTransfer(host: string, agentId: string, epoch: number, transfer: Transfer): Promise<TransferTicket> {
    return this.requester.request(runtimeRequests.openTransfer, { agentId, epoch, transfer }, { host });
  }
}

/** The result of an ended execution as its host tells it; null while it runs. */
export const resultOf = (owned: Owned, outcome: ExecutionOutcome): Result | null => {
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

/** The result of one that is not known to have started, or of which nothing is left. */
export const emptyResult = (owned: Owned, status: Extract<EndedStatus, 'cancelled' | 'failed'>): Result => ({
  ...ownedOf(owned),
  status,
  exitCode: -1,
  stdout: '',
  stderr: '',
  startedAt: null,
  endedAt: new Date().toISOString(),
});

const ownedOf = ({ executionId, accountId, agentId }: Owned): Owned => ({ executionId, accountId, agentId });
