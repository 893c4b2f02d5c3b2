import { accountsRequests, type KeyView, type ListKeys } from '@berth/contracts/accounts';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { KeyListQuery } from './key-list.query.js';

@Controller()
export class KeyListNatsController {
  constructor(private readonly query: KeyListQuery) {}

  @HandleRequest(accountsRequests.listKeys)
  list(@Payload() request: ListKeys): Promise<Page<KeyView>> {
    return this.query.run(request);
  }
}
