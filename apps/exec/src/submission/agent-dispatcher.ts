import type { AwakeAgent } from '@berth/contracts/agents';
import type { SubmitExecution } from '@berth/contracts/exec';
import type { ExecuteCommand, ExecutionOutcome } from '@berth/contracts/runtime';
import { isDomainError, type DomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { ExecutionRepository, type Owned } from '../execution/execution.repository.js';
import { LONGEST_WAIT_MS, ExecutionHosts } from '../host/execution-host.js';
import { guestCommandUnavailable } from './refusals.js';
import { Rerouting } from './rerouting.js';
import { afterFailure, isCallersFault, judgeFailure, type Start } from './sending.js';
import { Wake } from './wake.js';

/** How often the agent is woken again when its host rejects the epoch because it has frozen the agent. */
const MAX_REFUSALS = 5;
/** How long to retry a host that cannot be reached. The caller must get its error within 5 s. */
const REACH_WITHIN_MS = 3_000;
/** How long to query a host for the outcome: longer than one silently lost request takes. */
const ASK_AGAIN_MS = 5_000;
const ASK_AGAIN_PAUSE_MS = 100;
/** A process that was suspended for this long first checks whether another one has ended the execution. */
const STOOD_STILL_MS = 5_000;

/** A command to dispatch. */
export interface Handing {
  readonly owned: Owned;
  readonly submit: SubmitExecution;
  readonly timeoutMs: number;
  /** When the log accepted it (`Date.now()`). */
  readonly acceptedAt: number;
}

/** The outcome of dispatching a command. */
export type HandedOver =
  /** Started. `outcome` is `running` only for detached commands. */
  | { readonly kind: 'started'; readonly outcome: ExecutionOutcome }
  /** Certainly never started. */
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** Ended, or to be cancelled, before it was dispatched. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'unknown'; readonly cause: unknown };

type Sent = HandedOver | { readonly kind: 'elsewhere' };

/** Dispatches a command to an awake agent, which starts it at most once. What it returns about the start is certain. */
@Injectable()
export class AgentDispatcher {
  constructor(
    private readonly hosts: ExecutionHosts,
    private readonly wake: Wake,
    private readonly executions: ExecutionRepository,
    private readonly rerouting: Rerouting,
  ) {}

  /** Never throws: every failure is an outcome. */
  async run(handing: Handing, first: AwakeAgent): Promise<HandedOver> {
    let awake = first;
    let since = handing.acceptedAt;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      const sent = await this.send(handing, awake, since);
      if (sent.kind !== 'elsewhere') return sent;
      const next = await this.reroute(handing, awake.epoch);
      if ('kind' in next) return next;
      awake = next;
      since = Date.now();
    }
    return refused(guestCommandUnavailable());
  }

  /** Sends the command under one epoch until it is known whether it started. */
  private async send(handing: Handing, awake: AwakeAgent, since: number): Promise<Sent> {
    const giveUpAt = Date.now() + REACH_WITHIN_MS;
    let lookedAt = since;
    let start: Start = 'notStarted';
    for (;;) {
      if (Date.now() - lookedAt > STOOD_STILL_MS) {
        if (!(await this.isOurs(handing))) return { kind: 'overtaken' };
        lookedAt = Date.now();
      }
      try {
        const outcome = await this.hosts.execute(awake.host, commandOf(handing, awake));
        return await this.follow(handing, awake, outcome);
      } catch (error) {
        const failure = judgeFailure(error);
        start = afterFailure(start, failure);
        if (start !== 'notStarted') return this.ask(handing, awake, error);
        if (failure === 'elsewhere') return { kind: 'elsewhere' };
        if (failure === 'refused' || Date.now() > giveUpAt) return refused(toCallersWords(error));
        await pause(ASK_AGAIN_PAUSE_MS);
      }
    }
  }

  /** For a command that may have started: queries the journal. Also sends it again, because the guest starts an id once. */
  private async ask(handing: Handing, awake: AwakeAgent, cause: unknown): Promise<Sent> {
    const giveUpAt = Date.now() + ASK_AGAIN_MS;
    for (;;) {
      const found = await this.hosts.find(awake.host, handing.owned, 0).catch(() => undefined);
      if (found?.state === 'known') return this.follow(handing, awake, found.outcome);
      if (found?.state === 'absent') {
        if (found.epoch !== awake.epoch || !found.awake) return refused(guestCommandUnavailable(cause));
        if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
        const outcome = await this.hosts
          .executeAgain(awake.host, commandOf(handing, awake))
          .catch(() => undefined);
        if (outcome !== undefined) return this.follow(handing, awake, outcome);
      }
      if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
      await pause(ASK_AGAIN_PAUSE_MS);
    }
  }

  /** For a started command. If it is attached, waits for its end, however long that takes. */
  private async follow(handing: Handing, awake: AwakeAgent, begun: ExecutionOutcome): Promise<HandedOver> {
    let outcome = begun;
    let giveUpAt = Date.now() + ASK_AGAIN_MS;
    while (outcome.status === 'running' && !handing.submit.detached) {
      try {
        const found = await this.hosts.find(awake.host, handing.owned, LONGEST_WAIT_MS);
        if (found.state === 'absent') throw new Error('The journal has no record of a started execution.');
        outcome = found.outcome;
        giveUpAt = Date.now() + ASK_AGAIN_MS;
      } catch (cause) {
        if (Date.now() > giveUpAt) return { kind: 'unknown', cause };
      }
      if (outcome.status === 'running') await pause(ASK_AGAIN_PAUSE_MS);
    }
    return { kind: 'started', outcome };
  }

  private async reroute(handing: Handing, refusedEpoch: number): Promise<AwakeAgent | HandedOver> {
    const { owned, submit } = handing;
    try {
      await this.rerouting.begin(owned.executionId);
      const awake = await this.wake.forCommand(submit, owned.agentId, refusedEpoch);
      const state = await this.executions.reroute(owned, awake.host, awake.epoch);
      const ours = state.status === 'running' && !state.cancelRequested;
      return ours ? awake : { kind: 'overtaken' };
    } catch (error) {
      return refused(isWakeRefusal(error) ? error : guestCommandUnavailable(error));
    } finally {
      this.rerouting.end(owned.executionId).catch(() => undefined);
    }
  }

  private async isOurs({ owned }: Handing): Promise<boolean> {
    const state = await this.executions.load(owned.executionId).catch(() => undefined);
    return state?.status === 'running' && !state.cancelRequested;
  }
}

const commandOf = ({ owned, submit, timeoutMs }: Handing, { epoch }: AwakeAgent): ExecuteCommand => ({
  agentId: owned.agentId,
  executionId: owned.executionId,
  epoch,
  command: submit.command,
  cwd: submit.cwd,
  env: submit.env,
  timeoutMs,
  wait: !submit.detached,
});

const refused = (error: DomainError): HandedOver => ({ kind: 'refused', error });

const toCallersWords = (error: unknown): DomainError =>
  isCallersFault(error) ? error : guestCommandUnavailable(error);

/** Whether the error is from `Wake`; the others are outages of tables or log. */
const isWakeRefusal = (error: unknown): error is DomainError =>
  isDomainError(error) && error.code !== 'service_unavailable';
