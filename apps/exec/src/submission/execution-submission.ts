import { createHash } from 'node:crypto';
import { detach } from '@berth/kernel';
import type { AwakeAgent, ExecutionView } from '@berth/contracts/hosting';
import type { SubmitExecution } from '@berth/contracts/exec';
import { asFinal } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ExecutionRepository, type OwnedExecution } from '../execution/execution.repository.js';
import { FollowedExecutions } from '../execution/followed-executions.js';
import { emptyResult, resultOf } from '../host/execution-host.js';
import { runningView, viewOf, type Result } from '../output/output-vault.js';
import { AcceptedPositions } from './accepted-positions.js';
import { AgentDispatcher, type DispatchResult, type DispatchTask } from './agent-dispatcher.js';
import { newAttempt } from './attempt.js';
import { EarlierSubmission } from './earlier-submission.js';
import { guestCommandUnavailable, outcomeUnknown } from './refusals.js';
import { RefusalRecorder } from './refusal-recorder.js';

const ATTACHED_SECONDS = 60;
const DETACHED_SECONDS = 3_600;

/** Records a submission, dispatches its command to an awake agent, and returns or throws the outcome. */
@Injectable()
export class ExecutionSubmission {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly dispatcher: AgentDispatcher,
    private readonly earlier: EarlierSubmission,
    private readonly followed: FollowedExecutions,
    private readonly positions: AcceptedPositions,
    private readonly refusals: RefusalRecorder,
  ) {}

  async run(submit: SubmitExecution, owned: OwnedExecution, awake: AwakeAgent): Promise<ExecutionView> {
    const timeoutSeconds = submit.timeoutSeconds ?? (submit.detached ? DETACHED_SECONDS : ATTACHED_SECONDS);
    const accepted = await this.accept(submit, owned, awake, timeoutSeconds);
    // Joining does not count as following: if no process dispatches the execution, the reconciler must end it.
    if (!accepted.first) return this.earlier.join(submit, owned);
    const task: DispatchTask = {
      owned,
      submit,
      timeoutMs: toMillis(timeoutSeconds),
      acceptedAt: Date.now(),
    };
    const { position } = accepted;
    return this.followed.during(owned.executionId, async () => {
      const recorded =
        submit.detached && position !== null ? this.recordPosition(owned, position) : undefined;
      const dispatched = await this.dispatcher.run(task, awake);
      await recorded;
      return this.conclude(task, dispatched, position);
    });
  }

  /** Appends the submission. Nothing is dispatched earlier, so after an error the command certainly did not start. */
  private async accept(
    submit: SubmitExecution,
    owned: OwnedExecution,
    { host, epoch }: AwakeAgent,
    timeoutSeconds: number,
  ): Promise<{ readonly first: boolean; readonly position: bigint | null }> {
    const { command, detached } = submit;
    const attempt = newAttempt();
    const submission = {
      ...owned,
      attempt,
      host,
      epoch,
      detached,
      timeoutSeconds,
      commandBytes: Buffer.byteLength(command),
      commandSha256: createHash('sha256').update(command).digest('hex'),
      at: new Date().toISOString(),
    };
    try {
      return await this.executions.submit(submission, submit);
    } catch (error) {
      // The log may have accepted this attempt. If it accepted another attempt, that one dispatches the command.
      detach(this.refusals.withdraw(owned, attempt, 'not_accepted'));
      throw guestCommandUnavailable(error);
    }
  }

  /** Ignores errors: at worst a list misses the execution for a moment. */
  private async recordPosition({ agentId }: OwnedExecution, position: bigint): Promise<void> {
    await this.positions.record(agentId, position).catch(() => undefined);
  }

  private async conclude(
    { owned }: DispatchTask,
    dispatched: DispatchResult,
    position: bigint | null,
  ): Promise<ExecutionView> {
    switch (dispatched.kind) {
      case 'started': {
        const result = resultOf(owned, dispatched.outcome);
        return result === null ? runningView(owned.executionId) : this.end(result, position);
      }
      case 'refused':
        await this.refusals.record(owned, dispatched.error.code);
        throw asFinal(dispatched.error);
      case 'overtaken':
        return this.overtaken(owned, position);
      case 'unknown':
        throw outcomeUnknown(owned.executionId, dispatched.cause);
    }
  }

  private async end(result: Result, position: bigint | null): Promise<ExecutionView> {
    try {
      return viewOf(await this.executions.endInTime(result, position));
    } catch (error) {
      throw outcomeUnknown(result.executionId, error);
    }
  }

  /** For an execution that was cancelled or given up before it was dispatched. */
  private async overtaken(owned: OwnedExecution, position: bigint | null): Promise<ExecutionView> {
    const state = await this.executions.load(owned.executionId).catch(() => undefined);
    if (state?.status === 'ended') {
      const result = emptyResult(owned, state.outcome === 'cancelled' ? 'cancelled' : 'failed');
      return this.end(result, position);
    }
    if (state?.status === 'running' && state.cancelRequested)
      return this.end(emptyResult(owned, 'cancelled'), position);
    await this.refusals.record(owned, 'not_handed_over');
    throw asFinal(guestCommandUnavailable());
  }
}

/** Stays finite, because JSON has no infinity. */
const toMillis = (seconds: number): number => Math.min(Math.ceil(seconds * 1000), Number.MAX_SAFE_INTEGER);
