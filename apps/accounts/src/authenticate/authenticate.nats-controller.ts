import { accountsRequests, type Authenticate, type AuthenticatedKey } from '@berth/contracts/accounts';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { AuthenticateQuery } from './authenticate.query.js';

@Controller()
export class AuthenticateNatsController {
  constructor(private readonly query: AuthenticateQuery) {}

  @HandleRequest(accountsRequests.authenticate)
  authenticate(@Payload() request: Authenticate): Promise<AuthenticatedKey> {
    return this.query.run(request);
  }
}
