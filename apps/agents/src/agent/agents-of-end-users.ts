import type { AgentOfEndUser, AgentView, CreateAgent } from '@berth/contracts/agents';
import { deriveId, DomainError, isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsFromLog } from '../agent-list/agents-from-log.js';
import { AgentOfEndUserExists, Reservations, type Claim } from '../reservation/reservations.js';
import { AgentProfiles } from './agent-profiles.js';
import { agentOfEndUserClaim } from './claims.js';
import { AgentCreation } from './create-agent.js';

/** Longer than a creation whose process died blocks the next one. */
const WITHIN_MS = 15_000;
const RETRY_MS = 50;

/**
 * Gets or creates *the* agent of an end user. Each end user has one reservation: a call that finds it held waits for the
 * agent that holds it.
 */
@Injectable()
export class AgentsOfEndUsers {
  constructor(
    private readonly creation: AgentCreation,
    private readonly profiles: AgentProfiles,
    private readonly reservations: Reservations,
    @Inject(AgentsFromLog) private readonly agents: Pick<AgentsFromLog, 'view'>,
  ) {}

  /** Errors: see `agentsRequests.createForEndUser`. */
  async getOrCreate(request: CreateAgent): Promise<AgentOfEndUser> {
    const { accountId, commandId } = request;
    const agentId = deriveId('agt', commandId);
    const { endUserId } = (await this.profiles.of(request, agentId)).personal;
    if (endUserId === null) throw new Error('The request names no end user.');
    const claim = agentOfEndUserClaim(accountId, endUserId);
    for (const end = Date.now() + WITHIN_MS; Date.now() < end; await pause(RETRY_MS)) {
      const held = await this.holder(claim);
      if (held.agent !== null) return { agent: held.agent, created: held.agent.id === agentId };
      if (held.isAwaited && held.agentId !== agentId) continue;
      try {
        return { agent: await this.creation.create(request, 'agent of its end user'), created: true };
      } catch (error) {
        if (!(error instanceof AgentOfEndUserExists)) throw error;
      }
    }
    throw new DomainError(
      'unavailable',
      'service_unavailable',
      'The agent is being created. Try again shortly.',
    );
  }

  /** Returns the agent that holds the claim. Waits for it while its creation may still be in progress. */
  private async holder(
    claim: Claim,
  ): Promise<{ readonly agentId?: string; readonly agent: AgentView | null; readonly isAwaited: boolean }> {
    const held = await this.reservations.holderOf(claim);
    if (held === null) return { agent: null, isAwaited: false };
    const { agentId, overdue } = held;
    try {
      return { agentId, agent: await this.agents.view(claim.accountId, agentId), isAwaited: false };
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
      return { agentId, agent: null, isAwaited: !overdue };
    }
  }
}
