import { detach, isDomainError } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { AgentLifecycle } from './agent-lifecycle.js';
import { CreationAttempts, type AttemptEnd } from './creation-attempts.js';
import { CreationResources, type CreationAttempt } from './creation-resources.js';
import { AgentOfEndUserExists } from '../reservation/reservations.js';
import { CreationTiming } from './creation-timing.js';
import { within } from '@berth/supervision';

const isTaken = (error: unknown): boolean =>
  error instanceof AgentOfEndUserExists || (isDomainError(error) && error.code === 'agent_name_taken');

/** Undoes attempts that failed. */
@Injectable()
export class CreationRollback {
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    private readonly attempts: CreationAttempts,
    private readonly resources: CreationResources,
    private readonly lifecycle: AgentLifecycle,
    private readonly timing: CreationTiming,
    private readonly log: Logger,
  ) {}

  /**
   * Undoes the attempt that failed with `error`; returns `created` when its agent exists nevertheless. At the latest
   * `undoneWithinMs` after `begun` (Unix milliseconds) it returns `abandoned` and continues in the background.
   */
  async undo(attempt: CreationAttempt, error: unknown, begun: number): Promise<AttemptEnd> {
    // That was its first claim, so this attempt holds nothing.
    const isFirst = error instanceof AgentOfEndUserExists || attempt.uniqueness === 'any agent';
    if (isFirst && isTaken(error)) return 'abandoned';
    const work: Promise<AttemptEnd> = this.run(attempt)
      .catch((failure: unknown): AttemptEnd => {
        // The next attempt, the next claim of the name and the reconciler clean up what is left.
        this.log.warn({ agentId: attempt.agentId, err: failure }, 'could not undo a failed creation yet');
        return 'abandoned';
      })
      .finally(() => this.running.delete(work));
    this.running.add(work);
    return within(Math.max(0, begun + this.timing.undoneWithinMs - Date.now()), work, 'abandoned');
  }

  /** Deletes the agent that the attempt has created. */
  async revoke(attempt: CreationAttempt): Promise<void> {
    await this.attempts.revoke(attempt.agentId, attempt.request.accountId);
    await this.resources.releaseCreated(attempt);
    detach(this.lifecycle.drive(attempt.agentId));
  }

  /** Waits for rollbacks that continue in the background. */
  async settle(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  private async run(attempt: CreationAttempt): Promise<AttemptEnd> {
    const end = await this.attempts.end(attempt, attempt.request.accountId);
    if (end === 'created') detach(this.lifecycle.drive(attempt.agentId));
    else await this.resources.release(attempt);
    return end;
  }
}
