import { accountsRequests, type OwnAccountView } from '@berth/contracts/accounts';
import { Requester } from '@berth/messaging';
import { Controller, Get, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { keyHolderOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';

@ApiTags('Account')
@Controller('api/v1/account')
export class OwnAccountController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    summary: 'Get the account and the key that sends the request',
    responses: [{ status: 200, description: 'The account and the key.', schema: 'OwnAccount' }],
  })
  @Get()
  get(@Req() request: ApiRequest): Promise<OwnAccountView> {
    const { accountId, keyId } = keyHolderOf(request);
    return this.requester.request(accountsRequests.ownAccount, { accountId, keyId });
  }
}
