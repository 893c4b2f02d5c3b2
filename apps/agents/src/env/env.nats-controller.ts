import {
  agentsRequests,
  type AgentRef,
  type AgentView,
  type DeleteEnvVar,
  type EnvPage,
  type EnvVarView,
  type ListEnv,
  type SetEnvVar,
} from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { EnvCommandHandler } from './env.command-handler.js';

@Controller()
export class EnvNatsController {
  constructor(private readonly env: EnvCommandHandler) {}

  @HandleRequest(agentsRequests.listEnv)
  list(request: ListEnv): Promise<EnvPage> {
    return this.env.list(request);
  }

  @HandleRequest(agentsRequests.setEnv)
  set(request: SetEnvVar): Promise<EnvVarView> {
    return this.env.set(request);
  }

  @HandleRequest(agentsRequests.deleteEnv)
  async remove(request: DeleteEnvVar): Promise<Record<string, never>> {
    await this.env.remove(request);
    return {};
  }

  @HandleRequest(agentsRequests.reloadEnv)
  reload(request: AgentRef): Promise<AgentView> {
    return this.env.reload(request);
  }
}
