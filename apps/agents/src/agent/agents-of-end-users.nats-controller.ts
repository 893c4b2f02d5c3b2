import { agentsRequests, type AgentOfEndUser, type CreateAgent } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentsOfEndUsers } from './agents-of-end-users.js';

@Controller()
export class AgentsOfEndUsersNatsController {
  constructor(private readonly agents: AgentsOfEndUsers) {}

  @HandleRequest(agentsRequests.createForEndUser)
  create(request: CreateAgent): Promise<AgentOfEndUser> {
    return this.agents.getOrCreate(request);
  }
}
