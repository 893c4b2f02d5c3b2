import {
  endUsersRequests,
  type EndUserCommand,
  type EndUserPolicy,
  type GetEndUser,
  type SetPolicy,
} from '@berth/contracts/end-users';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { EndUserWrites } from '../end-user/end-user-writes.js';
import { PolicyCommandHandler } from './policy.command-handler.js';

@Controller()
export class PolicyNatsController {
  constructor(
    private readonly policies: PolicyCommandHandler,
    private readonly endUsers: EndUserWrites,
  ) {}

  @HandleRequest(endUsersRequests.setPolicy)
  set(@Payload() request: SetPolicy): Promise<EndUserPolicy & { readonly agentsUpdated: number }> {
    return this.policies.set(request);
  }

  @HandleRequest(endUsersRequests.deletePolicy)
  delete(@Payload() request: EndUserCommand): Promise<Record<string, never>> {
    return this.policies.delete(request);
  }

  @HandleRequest(endUsersRequests.identify)
  async identify(@Payload() { accountId, externalId }: GetEndUser): Promise<{ readonly endUserId: string }> {
    const { endUserId } = await this.endUsers.load(accountId, externalId);
    return { endUserId };
  }
}
