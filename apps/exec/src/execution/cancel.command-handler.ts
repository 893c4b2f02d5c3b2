import type { CancelExecution } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { resultOf, ExecutionHosts } from '../host/execution-host.js';
import { viewOf } from '../output/output-vault.js';
import { agentUnreachable, executionNotFound } from '../submission/refusals.js';
import type { RunningExecution } from './execution.js';
import { ExecutionQuery } from './execution.query.js';
import { ExecutionRepository } from './execution.repository.js';

/** How long to wait for a command that is in flight to its guest, which does not know it yet. */
const ON_ITS_WAY_MS = 9_000;
const UNREACHABLE_MS = 4_000;
const RETRY_PAUSE_MS = 200;

/** Cancels a running execution; one that has ended keeps its result. */
@Injectable()
export class CancelCommandHandler {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly query: ExecutionQuery,
    private readonly hosts: ExecutionHosts,
  ) {}

  /**
   * Errors: not_found; unavailable `agent_unavailable` if the host cannot be reached. The request stays recorded, and
   * the reconciler cancels the execution once the host is back.
   */
  async handle(cancel: CancelExecution): Promise<ExecutionView> {
    const { accountId, agentId, executionId } = cancel;
    const ref = { accountId, agentId, executionId };
    const found = await this.query.find(ref);
    if (found.running === null) return found.view;
    const { state, position } = await this.executions.requestCancel(executionId, cancel);
    if (state.status === 'refused') throw executionNotFound();
    if (state.status !== 'running') return this.query.get(ref);
    return this.untilEnded(state, position);
  }

  private async untilEnded(first: RunningExecution, position: bigint | null): Promise<ExecutionView> {
    const begunAt = Date.now();
    let running = first;
    for (;;) {
      const tried = await this.tryAtHost(running, position);
      if ('view' in tried) return tried.view;
      const limitMs = tried.reached ? ON_ITS_WAY_MS : UNREACHABLE_MS;
      if (Date.now() - begunAt > limitMs) throw agentUnreachable(tried.cause);
      await pause(RETRY_PAUSE_MS);
      // The dispatcher may have ended or rerouted it in the meantime.
      const found = await this.query.find(running);
      if (found.running === null) return found.view;
      running = found.running;
    }
  }

  private async tryAtHost(
    running: RunningExecution,
    position: bigint | null,
  ): Promise<{ readonly view: ExecutionView } | { readonly reached: boolean; readonly cause: unknown }> {
    let result;
    try {
      result = resultOf(running, await this.hosts.cancel(running.host, running));
    } catch (cause) {
      return { reached: isDomainError(cause, 'not_found'), cause };
    }
    if (result === null) return { reached: true, cause: null };
    return { view: viewOf(await this.executions.endInTime(result, position)) };
  }
}
