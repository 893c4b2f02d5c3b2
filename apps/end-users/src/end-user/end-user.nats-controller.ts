import {
  endUsersRequests,
  type CreateEnlisted,
  type EndUserCommand,
  type EndUserView,
  type EnlistedEndUser,
  type GetEndUser,
  type EndUserIds,
  type FindEndUsers,
  type FindPersonalKeys,
  type FoundPersonalKey,
  type ListEndUsers,
  type PersonalKeyView,
  type PutEndUser,
  type PutEndUserResult,
} from '@berth/contracts/end-users';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { PersonalKeyQuery } from '../personal-data/personal-key.query.js';
import { EndUserListQuery } from '../end-user-list/end-user-list.query.js';
import { EndUserCommandHandler } from './end-user.command-handler.js';

@Controller()
export class EndUserNatsController {
  constructor(
    private readonly commands: EndUserCommandHandler,
    private readonly list: EndUserListQuery,
    private readonly keys: PersonalKeyQuery,
  ) {}

  @HandleRequest(endUsersRequests.put)
  put(@Payload() request: PutEndUser): Promise<PutEndUserResult> {
    return this.commands.put(request);
  }

  @HandleRequest(endUsersRequests.enlist)
  enlist(@Payload() request: EndUserCommand): Promise<EnlistedEndUser> {
    return this.commands.enlist(request);
  }

  @HandleRequest(endUsersRequests.createEnlisted)
  createEnlisted(@Payload() request: CreateEnlisted): Promise<Record<string, never>> {
    return this.commands.createEnlisted(request);
  }

  @HandleRequest(endUsersRequests.personalKey)
  personalKey(@Payload() { endUserId }: { readonly endUserId: string }): Promise<PersonalKeyView> {
    return this.keys.run(endUserId);
  }

  @HandleRequest(endUsersRequests.personalKeys)
  personalKeys(
    @Payload() request: FindPersonalKeys,
  ): Promise<{ readonly items: readonly FoundPersonalKey[] }> {
    return this.keys.findAll(request);
  }

  @HandleRequest(endUsersRequests.suspend)
  suspend(@Payload() request: EndUserCommand): Promise<EndUserView> {
    return this.commands.suspend(request);
  }

  @HandleRequest(endUsersRequests.resume)
  resume(@Payload() request: EndUserCommand): Promise<EndUserView> {
    return this.commands.resume(request);
  }

  @HandleRequest(endUsersRequests.delete)
  delete(@Payload() request: EndUserCommand): Promise<Record<string, never>> {
    return this.commands.delete(request);
  }

  @HandleRequest(endUsersRequests.get)
  get(@Payload() request: GetEndUser): Promise<EndUserView> {
    return this.list.get(request);
  }

  @HandleRequest(endUsersRequests.findIds)
  findIds(@Payload() request: FindEndUsers): Promise<{ readonly items: readonly EndUserIds[] }> {
    return this.list.findIds(request);
  }

  @HandleRequest(endUsersRequests.list)
  page(@Payload() request: ListEndUsers): Promise<Page<EndUserView>> {
    return this.list.list(request);
  }
}
