import { agentsRequests, type ForgetEndUser } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentKeys } from './agent-keys.js';

@Controller()
export class PersonalDataNatsController {
  constructor(private readonly keys: AgentKeys) {}

  @HandleRequest(agentsRequests.forgetEndUser)
  async forgetEndUser({ endUserId }: ForgetEndUser): Promise<Record<string, never>> {
    await this.keys.destroy(endUserId);
    return {};
  }
}
