import { Inject, Injectable } from '@nestjs/common';
import { EnvVault } from '../env/env-vault.js';
import { Placement } from '../host/placement.js';
import type { Holder } from '../reservation/reservation.js';
import { AgentCommandHandler, systemOrigin } from './agent.command-handler.js';
import { timesAbandoned, wasCreated } from './agent.js';

/** The outcome of an attempt to create an agent: the agent, or abandoned for good. */
export type AttemptEnd = 'created' | 'abandoned';

const EVERY_ATTEMPT = 2 ** 31 - 1;

/** Ends attempts to create agents that failed, or whose process died. */
@Injectable()
export class CreationAttempts {
  constructor(
    private readonly agents: AgentCommandHandler,
    @Inject(EnvVault) private readonly vault: Pick<EnvVault, 'forgetCreated'>,
    @Inject(Placement) private readonly placement: Pick<Placement, 'settled'>,
  ) {}

  /**
   * Abandons the attempt in the log, unless it has created its agent. Only the stream shows which: an append may have
   * succeeded although its response was lost.
   */
  async end({ agentId, attempt }: Holder, accountId: string): Promise<AttemptEnd> {
    const agent = await this.agents.handle(
      agentId,
      { type: 'AbandonCreation', agentId, attempt, at: new Date().toISOString() },
      systemOrigin(accountId, `${agentId}/abandon/${String(attempt)}`),
    );
    return wasCreated(agent) ? 'created' : 'abandoned';
  }

  /** Deletes the agent that a creation has made, unless it is being deleted already. */
  async revoke(agentId: string, accountId: string): Promise<void> {
    if ((await this.agents.load(agentId)).status !== 'live') return;
    await this.agents.handle(
      agentId,
      { type: 'RequestDeletion', at: new Date().toISOString() },
      systemOrigin(accountId, `${agentId}/revoke`),
    );
  }

  /** Removes the variables and the placement of an attempt that was abandoned in the log. */
  forget({ agentId, attempt }: Holder): Promise<void> {
    return this.vault.forgetCreated(agentId, attempt);
  }

  /** Whether the holder of a reservation has no agent and never will; ends its attempt first when it is `overdue`. */
  async isGone(holder: Holder, overdue: boolean, accountId: string): Promise<boolean> {
    const agent = await this.agents.load(holder.agentId);
    if (agent.status === 'live') return false;
    if (wasCreated(agent) || holder.attempt < timesAbandoned(agent)) return true;
    if (!overdue) return false;
    return (await this.abandon({ ...holder, attempt: timesAbandoned(agent) }, accountId)) === 'abandoned';
  }

  /** Ends a creation whose agent no host has announced in time: completes it if the agent exists, else abandons its attempt. */
  async settleOverdue(agentId: string, accountId: string): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status === 'live') await this.placement.settled(agentId);
    else if (wasCreated(agent)) await this.forget({ agentId, attempt: EVERY_ATTEMPT });
    else await this.abandon({ agentId, attempt: timesAbandoned(agent) }, accountId);
  }

  private async abandon(holder: Holder, accountId: string): Promise<AttemptEnd> {
    const end = await this.end(holder, accountId);
    if (end === 'abandoned') await this.forget(holder);
    return end;
  }
}
