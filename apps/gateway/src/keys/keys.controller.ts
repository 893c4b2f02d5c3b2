import {
  accountsRequests,
  mintKeyBody,
  type KeyView,
  type MintedKey,
  type MintKeyBody,
} from '@berth/contracts/accounts';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import { isoTime, type Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf, keyHolderOf } from '../auth/caller.js';
import { Route } from '../http/route.decorator.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { keyOf } from './key.resource.js';
import { expiryProblems, scopesOfMinting } from './minting.js';

@ApiTags('Keys')
@Controller('api/v1/keys')
export class KeysController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'manage' },
    body: { kind: 'json', shape: mintKeyBody, scopes: scopesOfMinting, problems: expiryProblems },
    summary: 'Mint a key',
    description:
      'Only this response contains the key itself. A key can grant only scopes that it holds, and the new key expires no later than it does.',
    responses: [{ status: 201, description: 'The key and its fields.', schema: 'MintedKey' }],
    errors: ['key_already_minted', 'idempotency_answer_gone'],
    answerEnds: 'expiresAt',
    answerShows: 'key',
  })
  @Post()
  mint(@Req() request: ApiRequest, @Body() body: MintKeyBody): Promise<MintedKey> {
    const expires = parseIsoTime(body.expiresAt);
    return this.requester.request(accountsRequests.mintKey, {
      ...envelopeOf(request),
      name: body.name,
      scopes: body.scopes.includes('read') ? body.scopes : ['read', ...body.scopes],
      holderScopes: keyHolderOf(request).scopes,
      expiresAt: expires === undefined ? null : isoTime(expires),
    });
  }

  @Route({
    accepts: { key: 'manage' },
    query: pageQuery,
    summary: 'List keys, newest first',
    responses: [
      { status: 200, description: 'One page, including revoked and expired keys.', schema: 'KeyPage' },
    ],
  })
  @Get()
  list(@Req() request: ApiRequest, @Query() { cursor, limit }: PageQuery): Promise<Page<KeyView>> {
    const { accountId } = callerOf(request);
    return this.requester.request(accountsRequests.listKeys, { accountId, cursor: cursor ?? null, limit });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: keyOf('key_id'),
    summary: 'Revoke a key',
    description:
      'It stops working immediately, on every gateway; its open streams close within 5 s. Idempotent. A key can revoke itself, and keys that have no scope that it lacks.',
    responses: [{ status: 204, description: 'Revoked.' }],
    errors: ['key_not_found'],
  })
  @Delete(':key_id')
  async revoke(@Req() request: ApiRequest, @Param('key_id') keyId: string): Promise<void> {
    const { scopes: holderScopes } = keyHolderOf(request);
    await this.requester.request(accountsRequests.revokeKey, { ...envelopeOf(request), keyId, holderScopes });
  }
}
