import type { AgentView, CreateAgent } from '@berth/contracts/agents';
import { deriveId, DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { AgentRow } from '../agent-list/agent-row.js';
import { viewOf } from '../agent-list/agent-view.js';
import { TemplateCatalogue } from '../templates/template-catalogue.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import { AgentLifecycle } from './agent-lifecycle.js';
import { timesAbandoned, wasCreated, type Profile } from './agent.js';
import { CreationOvertaken } from './creation-overtaken.js';
import { CreationResources, type CreationAttempt } from './creation-resources.js';
import { CreationRollback } from './creation-rollback.js';

const DEFAULT_IDLE_TTL_SECONDS = 900;

/** Attempts of one call. It needs more than one only when concurrent tries of its command abandon each other's attempts. */
const MAX_ATTEMPTS = 5;

/**
 * Creates agents. The agent's id derives from the command's id, so every try of a command concerns the same agent. When a
 * try fails, it abandons its attempt in the agent's stream, so that this attempt can no longer create the agent, and then
 * releases its resources. The next try of the command is another attempt (ADR 15).
 */
@Injectable()
export class AgentCreation {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly templates: TemplateCatalogue,
    private readonly resources: CreationResources,
    private readonly rollback: CreationRollback,
  ) {}

  /** Errors: invalid `unknown_template`; conflict `agent_name_taken`, `external_id_taken`; unavailable `no_capacity`. */
  async create(request: CreateAgent): Promise<AgentView> {
    const profile = this.profile(request);
    const agentId = deriveId('agt', request.commandId);
    const begun = Date.now();
    for (let tried = 0; tried < MAX_ATTEMPTS; tried++) {
      const agent = await this.agents.load(agentId);
      if (wasCreated(agent)) return this.firstView(agentId);
      const attempt = { agentId, attempt: timesAbandoned(agent), request, profile };
      try {
        return viewOf(await this.make(attempt), null);
      } catch (error) {
        const end = await this.rollback.undo(attempt, error, begun);
        if (end === 'created') return this.firstView(agentId);
        if (!(error instanceof CreationOvertaken)) throw error;
      }
    }
    throw new DomainError('unavailable', 'service_unavailable', 'Try again shortly.');
  }

  /** Returns the new agent's row. */
  private async make(creation: CreationAttempt): Promise<AgentRow> {
    const { agentId, attempt, request, profile } = creation;
    const host = await this.resources.acquire(creation);
    const { row, isFirst } = await this.agents.decide(
      agentId,
      { type: 'Create', agentId, profile, host, attempt, at: new Date().toISOString() },
      request,
    );
    void this.lifecycle.drive(agentId);
    return isFirst && row !== null ? row : this.firstRow(agentId);
  }

  private async firstView(agentId: string): Promise<AgentView> {
    void this.lifecycle.drive(agentId);
    return viewOf(await this.firstRow(agentId), null);
  }

  private async firstRow(agentId: string): Promise<AgentRow> {
    const row = await this.agents.loadFirstRow(agentId);
    if (row === null) throw new Error(`The stream of ${agentId} has no creation.`);
    return row;
  }

  private profile(request: CreateAgent): Profile {
    const template = this.templates.get(request.templateId);
    const { accountId, name, templateId, externalId, externalUserId, instructions, labels, idleTtlSeconds } =
      request;
    return {
      accountId,
      name,
      templateId,
      externalId,
      externalUserId,
      instructions,
      labels,
      idleTtlSeconds: idleTtlSeconds ?? DEFAULT_IDLE_TTL_SECONDS,
      resources: { ...template.resources, ...request.resources },
    };
  }
}
