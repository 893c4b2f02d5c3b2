import {
  endUsersRequests,
  type AuthenticatedToken,
  type AuthenticateToken,
  type EndUserCommand,
  type MintedToken,
  type MintToken,
} from '@berth/contracts/end-users';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { AuthenticateTokenQuery } from './authenticate-token.query.js';
import { EndUserActivity } from './end-user-activity.js';
import { TokenCommandHandler } from './token.command-handler.js';

@Controller()
export class TokenNatsController {
  constructor(
    private readonly commands: TokenCommandHandler,
    private readonly query: AuthenticateTokenQuery,
    private readonly activity: EndUserActivity,
  ) {}

  @HandleRequest(endUsersRequests.mintToken)
  mint(@Payload() request: MintToken): Promise<MintedToken> {
    return this.commands.mint(request);
  }

  @HandleRequest(endUsersRequests.revokeTokens)
  revoke(@Payload() request: EndUserCommand): Promise<{ readonly revoked: number }> {
    return this.commands.revokeAll(request);
  }

  @HandleRequest(endUsersRequests.noteActivity)
  noteActivity(@Payload() { endUserId }: { readonly endUserId: string }): Promise<Record<string, never>> {
    this.activity.seen(endUserId);
    return Promise.resolve({});
  }

  @HandleRequest(endUsersRequests.authenticateToken)
  authenticate(@Payload() request: AuthenticateToken): Promise<AuthenticatedToken> {
    return this.query.run(request);
  }
}
