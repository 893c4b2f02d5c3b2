import {
  accountsRequests,
  type Authenticate,
  type AuthenticatedKey,
  type FindSuspended,
  type GetStanding,
  type Standing,
} from '@berth/contracts/accounts';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { AccountStanding } from '../standing/account-standing.js';
import { AuthenticateQuery } from './authenticate.query.js';

@Controller()
export class AuthenticateNatsController {
  constructor(
    private readonly query: AuthenticateQuery,
    private readonly accounts: AccountStanding,
  ) {}

  @HandleRequest(accountsRequests.authenticate)
  authenticate(@Payload() request: Authenticate): Promise<AuthenticatedKey> {
    return this.query.run(request);
  }

  @HandleRequest(accountsRequests.authenticateId)
  authenticateId(@Payload() { keyId }: { readonly keyId: string }): Promise<AuthenticatedKey> {
    return this.query.byId(keyId);
  }

  @HandleRequest(accountsRequests.standing)
  standing(@Payload() { accountId }: GetStanding): Promise<Standing> {
    return this.accounts.of(accountId);
  }

  @HandleRequest(accountsRequests.suspended)
  async suspended(@Payload() { accountIds }: FindSuspended): Promise<{ accountIds: readonly string[] }> {
    return { accountIds: await this.accounts.suspendedAmong(accountIds) };
  }
}
