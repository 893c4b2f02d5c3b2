import { endUsersRequests, type SetDefaults } from '@berth/contracts/end-users';
import type { Policy } from '@berth/contracts/schema';
import type { CommandEnvelope } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { DefaultsCommandHandler } from './defaults.command-handler.js';

@Controller()
export class DefaultsNatsController {
  constructor(private readonly defaults: DefaultsCommandHandler) {}

  @HandleRequest(endUsersRequests.setDefaults)
  set(@Payload() request: SetDefaults): Promise<{ readonly policy: Policy }> {
    return this.defaults.set(request);
  }

  @HandleRequest(endUsersRequests.deleteDefaults)
  delete(@Payload() request: CommandEnvelope): Promise<Record<string, never>> {
    return this.defaults.delete(request);
  }

  @HandleRequest(endUsersRequests.getDefaults)
  get(@Payload() { accountId }: { readonly accountId: string }): Promise<{ readonly policy: Policy | null }> {
    return this.defaults.get(accountId);
  }
}
