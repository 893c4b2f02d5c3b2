import type { AgentView, CreateAgent } from '@berth/contracts/agents';
import { deriveId, detach, DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { identityColumns, type AgentRow } from '../agent-list/agent-row.js';
import { viewOf } from '../agent-list/agent-view.js';
import { Admission, ownerOf } from './admission.js';
import { ownerOfRow } from './owner.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import { AgentLifecycle } from './agent-lifecycle.js';
import { AgentProfiles, identityIn } from './agent-profiles.js';
import { timesAbandoned, wasCreated } from './agent.js';
import type { Uniqueness } from './claims.js';
import { CreationOvertaken } from './creation-overtaken.js';
import { CreationResources, type CreationAttempt } from './creation-resources.js';
import { CreationRollback } from './creation-rollback.js';
import { RETURNED_WITHIN_MS } from './creation-timing.js';
import { inTurns } from './turns.js';

/** Attempts of one call. It needs more than one only when concurrent tries of its command abandon each other's attempts. */
const MAX_ATTEMPTS = 5;
/** How long to wait until the list has a new agent: less if the database was just away, so that the rest took long. */
const SHOWN_WITHIN_MS = { most: 2_000, least: 500 };

/**
 * Creates agents. The agent's id derives from the command's id, so every try of a command concerns the same agent. When a
 * try fails, it abandons its attempt in the agent's stream, so that this attempt can no longer create the agent, and then
 * releases its resources. The next try of the command is another attempt (ADR 15).
 */
@Injectable()
export class AgentCreation {
  readonly #turns = inTurns();

  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly profiles: AgentProfiles,
    private readonly resources: CreationResources,
    private readonly rollback: CreationRollback,
    private readonly admission: Admission,
  ) {}

  /**
   * Errors: invalid `unknown_template`; those of `Admission`; conflict `agent_name_taken`, `external_id_taken`; unavailable
   * `no_capacity`; payment_required `plan_limit_reached`; `AgentOfEndUserExists` if the agent is to be that one.
   */
  create(request: CreateAgent, uniqueness: Uniqueness = 'any agent'): Promise<AgentView> {
    return this.#turns(() => this.createNow(request, uniqueness));
  }

  private async createNow(request: CreateAgent, uniqueness: Uniqueness): Promise<AgentView> {
    const identity = identityIn(request);
    const agentId = deriveId('agt', request.commandId);
    const begun = Date.now();
    for (let tried = 0; tried < MAX_ATTEMPTS; tried++) {
      const agent = await this.agents.load(agentId);
      if (wasCreated(agent)) return this.firstView(agentId, request, begun);
      const profile = await this.profiles.of(request, agentId);
      await this.admission.admit('create', ownerOf(profile));
      const attempt = { agentId, attempt: timesAbandoned(agent), request, profile, identity, uniqueness };
      try {
        return await this.make(attempt, begun);
      } catch (error) {
        const end = await this.rollback.undo(attempt, error, begun);
        if (end === 'created') return this.firstView(agentId, request, begun);
        if (!(error instanceof CreationOvertaken)) throw error;
      }
    }
    throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
  }

  private async make(creation: CreationAttempt, begun: number): Promise<AgentView> {
    const { agentId, attempt, request, profile } = creation;
    const host = await this.resources.acquire(creation);
    const { row, isFirst } = await this.agents.decide(
      agentId,
      { type: 'Create', agentId, profile, host, attempt, at: new Date().toISOString() },
      request,
      shownWithin(begun),
    );
    if (!isFirst || row === null) return this.firstView(agentId, request, begun);
    await this.complete(creation);
    return this.shown(row, request);
  }

  private async firstView(agentId: string, request: CreateAgent, begun: number): Promise<AgentView> {
    const first = await this.agents.loadFirst(agentId, shownWithin(begun));
    if (first?.agent.status !== 'live' || first.row === null)
      throw new Error(`The stream of ${agentId} has no creation.`);
    await this.complete({ agentId, attempt: 0, request, profile: first.agent.profile });
    return this.shown(first.row, request);
  }

  private async shown(row: AgentRow, request: CreateAgent): Promise<AgentView> {
    const policy = await this.resources.policyOf(ownerOfRow(row));
    return viewOf({ ...row, ...identityColumns(identityIn(request)) }, null, policy);
  }

  /** An agent whose owner was deleted while it was being created is deleted, too. */
  private async complete(creation: Omit<CreationAttempt, 'identity' | 'uniqueness'>): Promise<void> {
    const { agentId, request, profile } = creation;
    if (await this.profiles.createOwner(request, profile)) detach(this.lifecycle.drive(agentId));
    else await this.rollback.revoke({ ...creation, identity: identityIn(request), uniqueness: 'any agent' });
  }
}

/** In milliseconds; `begun`: Unix milliseconds. */
const shownWithin = (begun: number): number => {
  const { most, least } = SHOWN_WITHIN_MS;
  return Math.min(most, Math.max(least, begun + RETURNED_WITHIN_MS - Date.now()));
};
