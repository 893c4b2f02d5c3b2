import {
  accountsRequests,
  type KeyView,
  type MintKey,
  type MintedKey,
  type RevokeKey,
} from '@berth/contracts/accounts';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { KeyCommandHandler } from './key.command-handler.js';

@Controller()
export class KeyNatsController {
  constructor(private readonly handler: KeyCommandHandler) {}

  @HandleRequest(accountsRequests.mintKey)
  mint(@Payload() command: MintKey): Promise<MintedKey> {
    return this.handler.mint(command);
  }

  @HandleRequest(accountsRequests.revokeKey)
  revoke(@Payload() command: RevokeKey): Promise<KeyView> {
    return this.handler.revoke(command);
  }
}
