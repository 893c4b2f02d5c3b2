import type { AwakeAgent } from '@berth/contracts/hosting';
import type { SubmitExecution } from '@berth/contracts/exec';
import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts/runtime';
import { isDomainError, type DomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { ExecutionRepository, type OwnedExecution } from '../execution/execution.repository.js';
import { LONGEST_WAIT_MS, ExecutionHosts } from '../host/execution-host.js';
import { guestCommandUnavailable } from './refusals.js';
import { ReroutedExecutions } from './rerouted-executions.js';
import { afterFailure, isCallersFault, judgeFailure, type Start } from './sending.js';
import { Wake } from './wake.js';

/** How often the agent is woken again when its host rejects the epoch because it has frozen the agent. */
const MAX_REFUSALS = 5;
/** How long to retry a host that cannot be reached. The caller must get its error within 5 s. */
const REACH_WITHIN_MS = 3_000;
/** How long to query a host for the outcome: longer than it takes to detect and repeat a silently lost request. */
const QUERY_OUTCOME_MS = 5_000;
const RETRY_PAUSE_MS = 100;
/** A process that was suspended for this long first checks whether another one has ended the execution. */
const SUSPENDED_MS = 5_000;

/** A command to dispatch. */
export interface DispatchTask {
  readonly owned: OwnedExecution;
  readonly submit: SubmitExecution;
  readonly timeoutMs: number;
  /** When the log accepted it (`Date.now()`). */
  readonly acceptedAt: number;
}

/** The outcome of dispatching a command. */
export type DispatchResult =
  /** Started. `outcome` is `running` only for detached commands. */
  | { readonly kind: 'started'; readonly outcome: ExecutionOutcome }
  /** Certainly never started. */
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** Ended, or to be cancelled, before it was dispatched. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'unknown'; readonly cause: unknown };

type Sent = DispatchResult | { readonly kind: 'elsewhere' };

/**
 * Dispatches a command to an awake agent, which starts it at most once. Returns `unknown` unless it is certain whether
 * the command started.
 */
@Injectable()
export class AgentDispatcher {
  constructor(
    private readonly hosts: ExecutionHosts,
    private readonly wake: Wake,
    private readonly executions: ExecutionRepository,
    private readonly rerouted: ReroutedExecutions,
  ) {}

  /** Never throws: every failure is an outcome. */
  async run(task: DispatchTask, first: AwakeAgent): Promise<DispatchResult> {
    let awake = first;
    let since = task.acceptedAt;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      const sent = await this.send(task, awake, since);
      if (sent.kind !== 'elsewhere') return sent;
      const next = await this.reroute(task, awake.epoch);
      if ('kind' in next) return next;
      awake = next;
      since = Date.now();
    }
    return refused(guestCommandUnavailable());
  }

  /** Sends the command under one epoch until we know whether it started. */
  private async send(task: DispatchTask, awake: AwakeAgent, since: number): Promise<Sent> {
    const giveUpAt = Date.now() + REACH_WITHIN_MS;
    let checkedAt = since;
    let start: Start = 'notStarted';
    for (;;) {
      if (Date.now() - checkedAt > SUSPENDED_MS) {
        if (!(await this.isOurs(task))) return { kind: 'overtaken' };
        checkedAt = Date.now();
      }
      try {
        const outcome = await this.hosts.execute(awake.host, commandOf(task, awake));
        return await this.follow(task, awake, outcome);
      } catch (error) {
        const failure = judgeFailure(error);
        start = afterFailure(start, failure);
        if (start !== 'notStarted') return this.queryOutcome(task, awake, error);
        if (failure === 'elsewhere') return { kind: 'elsewhere' };
        if (failure === 'refused' || Date.now() > giveUpAt) return refused(toCallerError(error));
        await pause(RETRY_PAUSE_MS);
      }
    }
  }

  /** For a command that may have started: queries the journal, and sends the command again; the guest starts an id once. */
  private async queryOutcome(task: DispatchTask, awake: AwakeAgent, cause: unknown): Promise<Sent> {
    const giveUpAt = Date.now() + QUERY_OUTCOME_MS;
    for (;;) {
      const found = await this.hosts.find(awake.host, task.owned, 0).catch(() => undefined);
      if (found?.state === 'known') return this.follow(task, awake, found.outcome);
      if (found?.state === 'absent') {
        if (found.epoch !== awake.epoch || !found.awake) return refused(guestCommandUnavailable(cause));
        if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
        const outcome = await this.hosts
          .executeAgain(awake.host, commandOf(task, awake))
          .catch(() => undefined);
        if (outcome !== undefined) return this.follow(task, awake, outcome);
      }
      if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
      await pause(RETRY_PAUSE_MS);
    }
  }

  /** For a started command. If it is attached, waits for its end, however long that takes. */
  private async follow(
    task: DispatchTask,
    awake: AwakeAgent,
    begun: ExecutionOutcome,
  ): Promise<DispatchResult> {
    let outcome = begun;
    let giveUpAt = Date.now() + QUERY_OUTCOME_MS;
    while (outcome.status === 'running' && !task.submit.detached) {
      try {
        const found = await this.hosts.find(awake.host, task.owned, LONGEST_WAIT_MS);
        if (found.state === 'absent') throw new Error('The journal has no record of a started execution.');
        outcome = found.outcome;
        giveUpAt = Date.now() + QUERY_OUTCOME_MS;
      } catch (cause) {
        if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
      }
      if (outcome.status === 'running') await pause(RETRY_PAUSE_MS);
    }
    return { kind: 'started', outcome };
  }

  private async reroute(task: DispatchTask, refusedEpoch: number): Promise<AwakeAgent | DispatchResult> {
    const { owned, submit } = task;
    try {
      await this.rerouted.mark(owned.executionId);
      const awake = await this.wake.forCommand(submit, owned.agentId, refusedEpoch);
      const state = await this.executions.reroute(owned, awake.host, awake.epoch);
      const ours = state.status === 'running' && !state.cancelRequested;
      return ours ? awake : { kind: 'overtaken' };
    } catch (error) {
      return refused(isWakeRefusal(error) ? error : guestCommandUnavailable(error));
    } finally {
      this.rerouted.unmark(owned.executionId).catch(() => undefined);
    }
  }

  private async isOurs({ owned }: DispatchTask): Promise<boolean> {
    const state = await this.executions.load(owned.executionId).catch(() => undefined);
    return state?.status === 'running' && !state.cancelRequested;
  }
}

const commandOf = ({ owned, submit, timeoutMs }: DispatchTask, { epoch }: AwakeAgent): ExecuteCommand => ({
  agentId: owned.agentId,
  executionId: owned.executionId,
  epoch,
  command: submit.command,
  cwd: submit.cwd,
  env: submit.env,
  timeoutMs,
  wait: !submit.detached,
});

const refused = (error: DomainError): DispatchResult => ({ kind: 'refused', error });

const toCallerError = (error: unknown): DomainError =>
  isCallersFault(error) ? error : guestCommandUnavailable(error);

/** Whether the error is from `Wake`; the others are outages of tables or log. */
const isWakeRefusal = (error: unknown): error is DomainError =>
  isDomainError(error) && error.code !== 'service_unavailable';
