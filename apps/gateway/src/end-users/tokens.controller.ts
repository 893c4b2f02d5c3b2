import {
  endUsersRequests,
  mintTokenBody,
  type MintedToken,
  type MintTokenBody,
} from '@berth/contracts/end-users';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { isPlainObject } from '../validation/schema-keywords.js';
import { endUser } from './end-user.resource.js';

const DEFAULT_TTL_SECONDS = 900;

@ApiTags('End users')
@Controller('api/v1/end-users/:external_id/tokens')
export class TokensController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    body: { kind: 'json', shape: mintTokenBody, scopes: scopesOfMinting },
    summary: 'Mint a token for an end user',
    description:
      'The token reaches one agent of the end user. Only this response contains it. Needs `deploy` too, unless `scopes` is only `logs`.',
    responses: [{ status: 201, description: 'The token and its properties.', schema: 'MintedToken' }],
    errors: [
      'end_user_not_found',
      'agent_id_required',
      'agent_not_found',
      'too_many_tokens',
      'token_already_minted',
      'idempotency_answer_gone',
    ],
    answerEnds: 'expiresAt',
    answerShows: 'token',
  })
  @Post()
  mint(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
    @Body() body: MintTokenBody,
  ): Promise<MintedToken> {
    return this.requester.request(endUsersRequests.mintToken, {
      ...envelopeOf(request),
      externalId,
      scopes: body.scopes ?? ['chat'],
      ttlSeconds: body.ttlSeconds ?? DEFAULT_TTL_SECONDS,
      agentId: body.agentId ?? null,
    });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Revoke all tokens of an end user',
    description: 'They stop working immediately, on every gateway; their open streams close within 5 s.',
    responses: [
      { status: 200, description: 'How many living tokens were revoked.', schema: 'RevokedTokens' },
    ],
    errors: ['end_user_not_found'],
  })
  @Delete()
  revoke(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
  ): Promise<{ readonly revoked: number }> {
    return this.requester.request(endUsersRequests.revokeTokens, { ...envelopeOf(request), externalId });
  }
}

/** Only who may use agents hands out their use. */
function scopesOfMinting(body: unknown): readonly 'deploy'[] {
  const scopes = isPlainObject(body) ? body['scopes'] : undefined;
  const onlyLogs = Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => scope === 'logs');
  return onlyLogs ? [] : ['deploy'];
}
