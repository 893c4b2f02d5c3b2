import type { SubmitExecution, SubmittedExecution } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { asFinal, isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { ServiceContext } from '@berth/service';
import { Injectable, Inject } from '@nestjs/common';
import type { Execution } from '../execution/execution.js';
import { ExecutionQuery } from '../execution/execution.query.js';
import { ExecutionRepository, type OwnedExecution } from '../execution/execution.repository.js';
import { ExecutionHosts } from '../host/execution-host.js';
import { guestCommandUnavailable, outcomeUnknown } from './refusals.js';

const WAIT_MS = 20_000;
const RETRY_PAUSE_MS = 250;
/** Dispatching, including a wake, takes no longer. */
const STARTED_WITHIN_MS = 75_000;

/** Handles repeated submissions: the command runs once, and an earlier attempt cannot contradict a reply. */
@Injectable()
export class EarlierSubmission {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly query: ExecutionQuery,
    private readonly hosts: ExecutionHosts,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  /**
   * Returns the outcome of the earlier attempt, or that of `submit` if the log has no earlier attempt. Writes a
   * rejection to the log before it throws it, so that an earlier attempt that is still in flight is rejected too.
   * Errors: those of `submit`; upstream `execution_outcome_unknown` while the log is unavailable.
   */
  async orElse(
    command: SubmitExecution,
    owned: OwnedExecution,
    submit: () => Promise<SubmittedExecution>,
  ): Promise<SubmittedExecution> {
    const before = await this.orUnknown(owned, () => this.executions.load(owned.executionId));
    if (before.status === 'refused') throw asFinal(guestCommandUnavailable());
    if (before.status !== 'absent') return this.joined(command, owned);
    try {
      return await submit();
    } catch (error) {
      if (!isDomainError(error) || error.context['execution_started'] !== false) throw error;
      const after = await this.orUnknown(owned, () => this.executions.preclude(owned, error.code));
      if (after.status === 'refused') throw asFinal(error);
      return this.joined(command, owned);
    }
  }

  /** Waits for the earlier attempt: for its end if attached, for its start if detached. */
  async join({ detached }: SubmitExecution, owned: OwnedExecution): Promise<ExecutionView> {
    for (const giveUpAt = Date.now() + STARTED_WITHIN_MS; ;) {
      const state = await this.executions.load(owned.executionId);
      if (state.status === 'refused') throw asFinal(guestCommandUnavailable());
      const view = await this.view(owned, detached ? 0 : WAIT_MS);
      if (view !== null && (view.status !== 'running' || this.service.stopping.aborted)) return view;
      if (!detached) continue;
      if (view !== null && (await this.hasStarted(state, owned))) return view;
      if (Date.now() > giveUpAt || this.service.stopping.aborted) throw outcomeUnknown(owned.executionId);
      await pause(RETRY_PAUSE_MS, this.service.stopping);
    }
  }

  private async joined(command: SubmitExecution, owned: OwnedExecution): Promise<SubmittedExecution> {
    return { kind: 'execution', execution: await this.join(command, owned) };
  }

  /** Returns null if the execution has been refused in the meantime. */
  private async view(owned: OwnedExecution, waitMs: number): Promise<ExecutionView | null> {
    try {
      return await this.query.await({ ...owned, waitMs });
    } catch (error) {
      if (isDomainError(error, 'not_found') && error.code === 'execution_not_found') return null;
      throw error;
    }
  }

  private async hasStarted(state: Execution, owned: OwnedExecution): Promise<boolean> {
    if (state.status !== 'running') return false;
    const found = await this.hosts.find(state.host, owned, 0).catch(() => undefined);
    return found?.state === 'known';
  }

  private async orUnknown<T>({ executionId }: OwnedExecution, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw outcomeUnknown(executionId, error);
    }
  }
}
