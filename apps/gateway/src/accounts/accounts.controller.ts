import {
  accountsRequests,
  openAccountBody,
  updateAccountBody,
  type AccountView,
  type MintedKey,
  type OpenAccountBody,
  type OpenedAccount,
  type UpdateAccountBody,
} from '@berth/contracts/accounts';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Param, Post, Put, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { accountOf } from './account.resource.js';

@ApiTags('Operations')
@Controller('api/v1/operations/accounts')
export class AccountsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    body: { kind: 'json', shape: openAccountBody },
    summary: 'Open an account',
    description:
      'Only this response contains the first key of the account, which has the scopes `read`, `deploy`, `manage` and `computers`.',
    responses: [{ status: 201, description: 'The account and its first key.', schema: 'OpenedAccount' }],
    errors: ['unknown_plan', 'key_already_minted', 'idempotency_answer_gone'],
    answerShows: 'key',
  })
  @Post()
  open(@Req() request: ApiRequest, @Body() { name, planId }: OpenAccountBody): Promise<OpenedAccount> {
    return this.requester.request(accountsRequests.openAccount, {
      ...envelopeOf(request),
      name,
      planId: planId ?? null,
    });
  }

  @Route({
    accepts: { key: 'operate' },
    query: pageQuery,
    summary: 'List accounts, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'AccountPage' }],
  })
  @Get()
  list(@Query() { cursor, limit }: PageQuery): Promise<Page<AccountView>> {
    return this.requester.request(accountsRequests.listAccounts, { cursor: cursor ?? null, limit });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: accountOf('account_id'),
    summary: 'Get an account',
    responses: [{ status: 200, description: 'The account.', schema: 'Account' }],
    errors: ['account_not_found'],
  })
  @Get(':account_id')
  get(@Param('account_id') id: string): Promise<AccountView> {
    return this.requester.request(accountsRequests.getAccount, { id });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: accountOf('account_id'),
    body: { kind: 'json', shape: updateAccountBody },
    summary: 'Rename, suspend or resume an account, or change its plan',
    description:
      'Members left out stay as they are. Once a suspension returns, no call that begins later is accepted with a key of the account; its open sockets and streams close within 5 s and its agents go to sleep. Resuming wakes no agent.',
    responses: [{ status: 200, description: 'The account.', schema: 'Account' }],
    errors: ['account_not_found', 'first_account', 'unknown_plan'],
  })
  @Put(':account_id')
  update(
    @Req() request: ApiRequest,
    @Param('account_id') id: string,
    @Body() { name, planId, suspended }: UpdateAccountBody,
  ): Promise<AccountView> {
    return this.requester.request(accountsRequests.updateAccount, {
      ...envelopeOf(request),
      id,
      name: name ?? null,
      planId: planId ?? null,
      suspended: suspended ?? null,
    });
  }

  @Route({
    accepts: { key: 'operate' },
    resource: accountOf('account_id'),
    summary: 'Mint another first key for an account',
    description: 'For an account whose keys were lost. Only this response contains the key.',
    responses: [{ status: 201, description: 'The key and its fields.', schema: 'MintedKey' }],
    errors: ['account_not_found', 'key_already_minted', 'idempotency_answer_gone'],
    answerShows: 'key',
  })
  @Post(':account_id/keys')
  mintFirstKey(@Req() request: ApiRequest, @Param('account_id') id: string): Promise<MintedKey> {
    return this.requester.request(accountsRequests.mintFirstKey, { ...envelopeOf(request), id });
  }
}
