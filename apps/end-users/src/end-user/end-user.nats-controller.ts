import {
  endUsersRequests,
  type EndUserCommand,
  type EndUserView,
  type GetEndUser,
  type ListEndUsers,
  type PutEndUser,
  type PutEndUserResult,
} from '@berth/contracts/end-users';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { EndUserListQuery } from '../end-user-list/end-user-list.query.js';
import { EndUserCommandHandler } from './end-user.command-handler.js';

@Controller()
export class EndUserNatsController {
  constructor(
    private readonly commands: EndUserCommandHandler,
    private readonly list: EndUserListQuery,
  ) {}

  @HandleRequest(endUsersRequests.put)
  put(@Payload() request: PutEndUser): Promise<PutEndUserResult> {
    return this.commands.put(request);
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

  @HandleRequest(endUsersRequests.list)
  page(@Payload() request: ListEndUsers): Promise<Page<EndUserView>> {
    return this.list.list(request);
  }
}
