import { agentsRequests, type ForgetEndUser } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { KeptKeys } from '@berth/personal-data';

@Controller()
export class PersonalDataNatsController {
  constructor(private readonly keys: KeptKeys) {}

  @HandleRequest(agentsRequests.forgetEndUser)
  async forgetEndUser({ endUserId }: ForgetEndUser): Promise<Record<string, never>> {
    await this.keys.destroy(endUserId);
    return {};
  }
}
