import {
  agentsRequests,
  type AgentCounts,
  type AgentRef,
  type AgentView,
  type CountOfEndUsers,
  type CreateAgent,
  type EnsureAwake,
  type GetAgent,
  type ListAgents,
  type LocateAgent,
  type LocatedAgent,
  type TemplateView,
  type TransitionResult,
} from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentListQuery } from '../agent-list/agent-list.query.js';
import { TemplateCatalogue } from '../templates/template-catalogue.js';
import { AgentCreation } from './create-agent.js';
import { AgentDeletion } from './delete-agent.js';
import { EnsureAwakeHandler } from './ensure-awake.js';
import { Transitions } from './transitions.js';

@Controller()
export class AgentNatsController {
  constructor(
    private readonly creation: AgentCreation,
    private readonly deletion: AgentDeletion,
    private readonly transitions: Transitions,
    private readonly awake: EnsureAwakeHandler,
    private readonly query: AgentListQuery,
    private readonly templates: TemplateCatalogue,
  ) {}

  @HandleRequest(agentsRequests.create)
  create(request: CreateAgent): Promise<AgentView> {
    return this.creation.create(request);
  }

  @HandleRequest(agentsRequests.delete)
  async delete(request: AgentRef): Promise<Record<string, never>> {
    await this.deletion.delete(request);
    return {};
  }

  @HandleRequest(agentsRequests.get)
  get(request: GetAgent): Promise<AgentView> {
    return this.query.waitFor(request);
  }

  @HandleRequest(agentsRequests.list)
  list(request: ListAgents): Promise<Page<AgentView>> {
    return this.query.list(request);
  }

  @HandleRequest(agentsRequests.countOfEndUsers)
  countOfEndUsers(request: CountOfEndUsers): Promise<AgentCounts> {
    return this.query.countOfEndUsers(request);
  }

  @HandleRequest(agentsRequests.start)
  start(request: AgentRef): Promise<TransitionResult> {
    return this.transitions.start(request);
  }

  @HandleRequest(agentsRequests.stop)
  stop(request: AgentRef): Promise<TransitionResult> {
    return this.transitions.stop(request);
  }

  @HandleRequest(agentsRequests.sleep)
  sleep(request: AgentRef): Promise<TransitionResult> {
    return this.transitions.sleep(request);
  }

  @HandleRequest(agentsRequests.restart)
  restart(request: AgentRef): Promise<TransitionResult> {
    return this.transitions.restart(request);
  }

  @HandleRequest(agentsRequests.ensureAwake)
  ensureAwake(request: EnsureAwake): Promise<AwakeAgent> {
    return this.awake.handle(request);
  }

  @HandleRequest(agentsRequests.locate)
  locate(request: LocateAgent): Promise<LocatedAgent> {
    return this.query.locate(request.accountId, request.agentId);
  }

  @HandleRequest(agentsRequests.templates)
  async listTemplates(): Promise<{ items: readonly TemplateView[] }> {
    return await Promise.resolve({ items: this.templates.views() });
  }
}
