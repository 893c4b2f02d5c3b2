import { createHash } from 'node:crypto';
import type { AwakeAgent } from '@berth/contracts/agents';
import {
  executionIdOf,
  type ExecutionView,
  type SubmitExecution,
  type SubmittedExecution,
} from '@berth/contracts/exec';
import type { ExecutionStreams, Owned } from '../execution/execution-streams.js';
import { unlessStopping } from '../execution/unless-stopping.js';
import type { FollowedExecutions } from '../execution/followed-executions.js';
import { emptyResult, resultOf } from '../host/execution-host.js';
import { runningView, viewOf, type Result } from '../output/output-vault.js';
import type { AcceptedPositions } from './accepted-positions.js';
import { newAttempt } from './attempt.js';
import type { EarlierSubmission } from './earlier-submission.js';
import type { HandedOver, AgentDispatcher, Handing } from './agent-dispatcher.js';
import type { OlderGuest } from './older-guest.js';
import { answerElsewhere, detachedUnsupported, guestCommandUnavailable, outcomeUnknown } from './refusals.js';
import type { Refusing } from './refusing.js';
import { takesExecutions, type Wake } from './wake.js';

const ATTACHED_SECONDS = 60;
const DETACHED_SECONDS = 3_600;

/** What a submission is made with. */
export interface SubmissionParts {
  readonly wake: Wake;
  readonly olderGuest: OlderGuest;
  readonly dispatcher: AgentDispatcher;
  readonly executions: ExecutionStreams;
  readonly earlier: EarlierSubmission;
  readonly followed: FollowedExecutions;
  readonly positions: AcceptedPositions;
  readonly refusing: Refusing;
  readonly stopping: AbortSignal;
}

/** Runs a command in an agent, which it wakes first. */
export class SubmitCommandHandler {
  constructor(private readonly parts: SubmissionParts) {}

  /** Errors: see `execRequests`. */
  async handle(submit: SubmitExecution): Promise<SubmittedExecution> {
    const { accountId, agentId, commandId, repeated } = submit;
    const owned = { executionId: executionIdOf(commandId), accountId, agentId };
    if (!repeated) return this.submit(submit, owned);
    return this.parts.earlier.orElse(submit, owned, () => this.submit(submit, owned));
  }

  private async submit(submit: SubmitExecution, owned: Owned): Promise<SubmittedExecution> {
    const { wake, olderGuest, followed, stopping } = this.parts;
    const { agentId, detached } = submit;
    if (detached && (await wake.isKnownAsOld(submit, agentId))) throw detachedUnsupported();
    const awake = await wake.forCommand(submit, agentId, null);
    if (!takesExecutions(awake.guest)) {
      if (detached) throw detachedUnsupported();
      // Nobody could tell whether the earlier try ran.
      if (submit.repeated) throw outcomeUnknown(null);
      return olderGuest.run(submit, awake);
    }
    const running = this.run(submit, owned, awake);
    // Its caller asks another process by the execution's id.
    const execution = await unlessStopping(stopping, running, () => Promise.reject(answerElsewhere()));
    if (execution.status === 'running') followed.begin(awake.host, owned);
    return { kind: 'execution', execution };
  }

  private async run(submit: SubmitExecution, owned: Owned, awake: AwakeAgent): Promise<ExecutionView> {
    const timeoutSeconds = submit.timeoutSeconds ?? (submit.detached ? DETACHED_SECONDS : ATTACHED_SECONDS);
    const accepted = await this.accept(submit, owned, awake, timeoutSeconds);
    // Joining does not count as following: if nobody hands the execution over, the reconciler must end it.
    if (!accepted.first) return this.parts.earlier.join(submit, owned);
    const handing: Handing = {
      owned,
      submit,
      timeoutMs: toMillis(timeoutSeconds),
      acceptedAt: Date.now(),
    };
    const { position } = accepted;
    return this.parts.followed.during(owned.executionId, async () => {
      const noted = submit.detached && position !== null ? this.note(owned, position) : undefined;
      const handed = await this.parts.dispatcher.run(handing, awake);
      await noted;
      return this.conclude(handing, handed, position);
    });
  }

  /** Nothing was handed over yet: when it fails, it certainly was not started. */
  private async accept(
    submit: SubmitExecution,
    owned: Owned,
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
      return await this.parts.executions.submit(submission, submit);
    } catch (error) {
      // The log may have accepted this attempt. If it accepted another one, that one hands the command over.
      void this.parts.refusing.withdraw(owned, attempt, 'not_accepted');
      throw guestCommandUnavailable(error);
    }
  }

  /** A list that misses it is the worst that a failure here does. */
  private async note({ agentId }: Owned, position: bigint): Promise<void> {
    await this.parts.positions.note(agentId, position).catch(() => undefined);
  }

  private async conclude(
    { owned }: Handing,
    handed: HandedOver,
    position: bigint | null,
  ): Promise<ExecutionView> {
    switch (handed.kind) {
      case 'started': {
        const result = resultOf(owned, handed.outcome);
        return result === null ? runningView(owned.executionId) : this.end(result, position);
      }
      case 'refused':
        await this.parts.refusing.now(owned, handed.error.code);
        throw handed.error;
      case 'overtaken':
        return this.overtaken(owned, position);
      case 'unknown':
        throw outcomeUnknown(owned.executionId, handed.cause);
    }
  }

  private async end(result: Result, position: bigint | null): Promise<ExecutionView> {
    try {
      return viewOf(await this.parts.executions.endInTime(result, position));
    } catch (error) {
      throw outcomeUnknown(result.executionId, error);
    }
  }

  /** Somebody cancelled it, or took it for lost, before it was handed over. */
  private async overtaken(owned: Owned, position: bigint | null): Promise<ExecutionView> {
    const state = await this.parts.executions.load(owned.executionId).catch(() => undefined);
    if (state?.status === 'ended') {
      const known = emptyResult(owned, state.outcome === 'cancelled' ? 'cancelled' : 'failed');
      return this.end(known, position);
    }
    if (state?.status === 'running' && state.cancelRequested)
      return this.end(emptyResult(owned, 'cancelled'), position);
    await this.parts.refusing.now(owned, 'not_handed_over');
    throw guestCommandUnavailable();
  }
}

/** JSON knows no infinity, and a product of seconds may be one. */
const toMillis = (seconds: number): number => Math.min(Math.ceil(seconds * 1000), Number.MAX_SAFE_INTEGER);
