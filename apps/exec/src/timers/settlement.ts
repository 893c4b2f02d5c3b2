import type { FoundExecution } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { ExecConfig } from '../config.js';
import type { RunningExecution } from '../execution/execution.js';
import { ExecutionRepository } from '../execution/execution.repository.js';
import { FollowedExecutions } from '../execution/followed-executions.js';
import { emptyResult, ExecutionHosts, resultOf } from '../host/execution-host.js';
import { OutputVault } from '../output/output-vault.js';
import { ReroutedExecutions } from '../submission/rerouted-executions.js';
import type { RunningRow } from './running-executions.query.js';

/** Beyond this number, executions that were not observed for `UNSEEN_MS` count as ended elsewhere. */
const MAX_WATCHED = 10_000;
const UNSEEN_MS = 3_600_000;

interface Watched {
  readonly what: 'absent' | 'missing';
  readonly at: number;
  readonly seenAt: number;
}

type HostReport = FoundExecution | { readonly state: 'gone' } | { readonly state: 'away' };

/**
 * Ends an execution whose caller may be gone with the outcome in its host's journal. If no journal can provide an outcome
 * any more, the execution ends as `failed` without output, or as `cancelled` if that was requested.
 */
@Injectable()
export class Settlement {
  /** Measured by this process's clock. Silence resets it, because a silent guest may still have unread requests. */
  readonly #since = new Map<string, Watched>();
  #prunedAt = performance.now();

  constructor(
    private readonly executions: ExecutionRepository,
    private readonly vault: OutputVault,
    private readonly hosts: ExecutionHosts,
    private readonly followed: FollowedExecutions,
    private readonly rerouted: ReroutedExecutions,
    @Inject(ExecConfig) private readonly config: Pick<ExecConfig, 'giveUpAfter'>,
  ) {}

  async settle({ executionId, agentEnded }: Pick<RunningRow, 'executionId' | 'agentEnded'>): Promise<void> {
    const { executions, vault } = this;
    const state = await executions.load(executionId);
    if (state.status !== 'running') return this.#forget(executionId);
    const kept = await vault.find(executionId);
    // The log was unavailable when the execution ended.
    if (kept !== null) return this.#end(state, kept);
    const report = await this.#query(state);
    if (report.state === 'known') return this.#known(state, report, agentEnded);
    if (report.state === 'absent') return this.#absent(state, report);
    // Wait for a host that cannot be reached, unless the agent is known to have ended.
    if (report.state === 'gone' || agentEnded) return this.#missing(state);
    return this.#forget(executionId);
  }

  async #query(state: RunningExecution): Promise<HostReport> {
    try {
      return await this.hosts.find(state.host, state, 0);
    } catch (error) {
      const gone = isDomainError(error, 'not_found') && error.code === 'agent_not_on_host';
      return { state: gone ? 'gone' : 'away' };
    }
  }

  async #known(
    state: RunningExecution,
    { outcome }: Extract<FoundExecution, { state: 'known' }>,
    agentEnded: boolean,
  ): Promise<void> {
    const { hosts, followed } = this;
    const result = resultOf(state, outcome);
    if (result !== null) return this.#end(state, result);
    if (state.cancelRequested) {
      const cancelled = resultOf(state, await hosts.cancel(state.host, state));
      if (cancelled !== null) return this.#end(state, cancelled);
    }
    if (agentEnded) return this.#missing(state);
    followed.begin(state.host, state);
    return this.#forget(state.executionId);
  }

  /** The command has not started there, but may still be in flight to this epoch or another. */
  async #absent(
    state: RunningExecution,
    { epoch, awake }: Extract<FoundExecution, { state: 'absent' }>,
  ): Promise<void> {
    const { absent, preclude, inFlight } = this.config.giveUpAfter;
    const canStart = awake && epoch === state.epoch;
    const lasts = this.#lasts(state, 'absent');
    if (lasts < (canStart ? preclude : absent)) return;
    if (canStart && lasts < inFlight && !(await this.#preclude(state))) return;
    await this.#giveUp(state);
  }

  /** Returns whether the command certainly never starts. */
  async #preclude(state: RunningExecution): Promise<boolean> {
    if (await this.rerouted.has(state.executionId)) return false;
    try {
      return !(await this.hosts.preclude(state.host, state)).started;
    } catch (error) {
      if (!isDomainError(error)) throw error;
      return false;
    }
  }

  /** At present no journal can provide the outcome. */
  async #missing(state: RunningExecution): Promise<void> {
    if (this.#lasts(state, 'missing') >= this.config.giveUpAfter.missing) await this.#giveUp(state);
  }

  /** Returns how long the condition has held without interruption, in milliseconds. */
  #lasts({ executionId }: RunningExecution, what: 'absent' | 'missing'): number {
    const now = performance.now();
    const watched = this.#since.get(executionId);
    const at = watched?.what === what ? watched.at : now;
    this.#since.set(executionId, { what, at, seenAt: now });
    this.#forgetUnseen(now);
    return now - at;
  }

  #forgetUnseen(now: number): void {
    if (this.#since.size <= MAX_WATCHED || now - this.#prunedAt < UNSEEN_MS) return;
    this.#prunedAt = now;
    for (const [executionId, { seenAt }] of this.#since)
      if (now - seenAt > UNSEEN_MS) this.#forget(executionId);
  }

  async #giveUp(state: RunningExecution): Promise<void> {
    if (await this.rerouted.has(state.executionId)) return;
    await this.#end(state, emptyResult(state, state.cancelRequested ? 'cancelled' : 'failed'));
  }

  async #end(state: RunningExecution, result: Parameters<ExecutionRepository['end']>[0]): Promise<void> {
    await this.executions.end(result);
    this.#forget(state.executionId);
  }

  #forget(executionId: string): void {
    this.#since.delete(executionId);
  }
}
