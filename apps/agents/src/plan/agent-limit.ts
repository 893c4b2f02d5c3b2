import { Clock, DomainError } from '@berth/kernel';
import { AccountPlans } from '@berth/operator-file';
import { Inject, Injectable } from '@nestjs/common';
import { CreationAttempts } from '../agent/creation-attempts.js';
import { CreationTiming } from '../agent/creation-timing.js';
import type { Holder } from '../reservation/reservation.js';
import { AgentSeats } from './agent-seats.js';

/** Holds accounts to the agents of their plan, under any number of concurrent creations in any number of processes. */
@Injectable()
export class AgentLimit {
  constructor(
    private readonly plans: AccountPlans,
    private readonly seats: AgentSeats,
    @Inject(CreationAttempts) private readonly attempts: Pick<CreationAttempts, 'isGone'>,
    private readonly timing: CreationTiming,
    private readonly clock: Clock,
  ) {}

  /** Counts the agent that the attempt creates. Errors: payment_required `plan_limit_reached`. */
  async take(attempt: Holder, accountId: string): Promise<void> {
    const limit = (await this.plans.maxAgents(accountId)) ?? (await this.limitSince(attempt, accountId));
    if (limit === null) return;
    if (await this.seats.take(attempt, accountId, limit, this.clock.now())) return;
    const freed = await this.freeUnused(accountId);
    if (freed && (await this.seats.take(attempt, accountId, limit, this.clock.now()))) return;
    throw new DomainError(
      'payment_required',
      'plan_limit_reached',
      `The plan of the account allows ${String(limit)} agents.`,
    );
  }

  /** The attempt creates no agent. Idempotent. */
  release(attempt: Holder): Promise<void> {
    return this.seats.release(attempt);
  }

  /** Lets those count the creation for whom a limit is already in force, and returns the limit if it is by now. */
  private async limitSince(attempt: Holder, accountId: string): Promise<number | null> {
    await this.seats.hold(attempt, accountId, this.clock.now());
    return this.plans.maxAgents(accountId);
  }

  /** Releases seats of creations that died and of agents that were deleted; returns whether there were any. */
  private async freeUnused(accountId: string): Promise<boolean> {
    let freed = false;
    for (const { takenAt, ...holder } of await this.seats.held(accountId)) {
      const overdue = this.clock.now() - takenAt.getTime() >= this.timing.unfinishedAfterMs;
      if (!(await this.attempts.isGone(holder, overdue, accountId))) continue;
      await this.seats.release(holder);
      freed = true;
    }
    return freed;
  }
}
