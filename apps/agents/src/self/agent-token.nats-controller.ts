import {
  agentTokenRequests,
  type AuthenticateAgent,
  type AuthenticatedAgent,
  type LlmCaller,
} from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AuthenticateAgentQuery } from './authenticate-agent.query.js';

@Controller()
export class AgentTokenNatsController {
  constructor(private readonly query: AuthenticateAgentQuery) {}

  @HandleRequest(agentTokenRequests.authenticate)
  authenticate(request: AuthenticateAgent): Promise<AuthenticatedAgent> {
    return this.query.run(request);
  }

  @HandleRequest(agentTokenRequests.llmCaller)
  llmCaller(request: AuthenticateAgent): Promise<LlmCaller> {
    return this.query.llmCaller(request);
  }
}
