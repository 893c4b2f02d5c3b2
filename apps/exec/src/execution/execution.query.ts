import { agentsRequests } from '@berth/contracts/agents';
import type { AwaitExecution, ExecutionRef } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { ServiceContext } from '@berth/service';
import { Injectable, Inject } from '@nestjs/common';
import { LONGEST_WAIT_MS, resultOf, ExecutionHosts } from '../host/execution-host.js';
import { runningView, viewOf, OutputVault } from '../output/output-vault.js';
import { executionNotFound } from '../submission/refusals.js';
import type { RunningExecution } from './execution.js';
import { ExecutionRepository } from './execution.repository.js';
import { unlessStopping } from './unless-stopping.js';

/** Delay before a host that did not know the outcome is queried again. */
const QUERY_AGAIN_MS = 250;

/** An execution according to the log and the vault. */
export type KnownExecution =
  | { readonly view: ExecutionView; readonly running: RunningExecution }
  | { readonly view: ExecutionView; readonly running: null };

/** Reads single executions. Never wakes an agent. */
@Injectable()
export class ExecutionQuery {
  constructor(
    private readonly executions: ExecutionRepository,
    private readonly vault: OutputVault,
    private readonly hosts: ExecutionHosts,
    private readonly requester: Requester,
    @Inject(ServiceContext) private readonly service: Pick<ServiceContext, 'stopping'>,
  ) {}

  /** Errors: not_found `agent_not_found`, `execution_not_found`. */
  async get(ref: ExecutionRef): Promise<ExecutionView> {
    return (await this.find(ref)).view;
  }

  /** Errors: like `get`. The agent must still exist, even if its executions are known. */
  async find(ref: ExecutionRef): Promise<KnownExecution> {
    const { accountId, agentId } = ref;
    const located = this.requester.request(agentsRequests.locate, { accountId, agentId });
    const [found] = await Promise.all([settled(this.read(ref)), located]);
    if ('error' in found) throw found.error;
    return found.value;
  }

  /** Like `get`, but returns only when the execution has ended or `waitMs` has passed. */
  async await({ waitMs, ...ref }: AwaitExecution): Promise<ExecutionView> {
    const giveUpAt = Date.now() + Math.min(waitMs, LONGEST_WAIT_MS);
    let found = await this.find(ref);
    while (found.running !== null && Date.now() < giveUpAt && !this.service.stopping.aborted) {
      const atHost = this.awaitAtHost(found.running, giveUpAt - Date.now());
      const ended = await unlessStopping(this.service.stopping, atHost, () => Promise.resolve(null));
      if (ended !== null) return ended;
      await pause(Math.min(QUERY_AGAIN_MS, Math.max(0, giveUpAt - Date.now())), this.service.stopping);
      found = await this.read(ref);
    }
    return found.view;
  }

  /** Records the end if the host reports it; null otherwise. */
  private async awaitAtHost(running: RunningExecution, waitMs: number): Promise<ExecutionView | null> {
    const found = await this.hosts.find(running.host, running, waitMs).catch(() => null);
    if (found?.state !== 'known') return null;
    const result = resultOf(running, found.outcome);
    return result === null ? null : viewOf(await this.executions.endInTime(result));
  }

  /** An execution with a stored result has ended, even if the log does not contain its end yet. */
  private async read({ accountId, agentId, executionId }: ExecutionRef): Promise<KnownExecution> {
    const [state, stored] = await Promise.all([
      this.executions.load(executionId),
      this.vault.find(executionId),
    ]);
    if (state.status === 'absent' || state.status === 'refused') throw executionNotFound();
    if (state.accountId !== accountId || state.agentId !== agentId) throw executionNotFound();
    if (stored !== null) return { view: viewOf(stored), running: null };
    if (state.status === 'running') return { view: runningView(executionId), running: state };
    // It may have ended between the two reads: the result is stored before the log has the end.
    const result = await this.vault.find(executionId);
    if (result === null) throw executionNotFound();
    return { view: viewOf(result), running: null };
  }
}

type Settled<T> = { readonly value: T } | { readonly error: unknown };

/** Defers an error, so that a missing agent is reported before a missing execution. */
const settled = async <T>(promise: Promise<T>): Promise<Settled<T>> => {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
};
