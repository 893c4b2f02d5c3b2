import { webhookRequests, type WebhookToken } from '@berth/contracts/delivery';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { agentOf } from '../agents/agent.resource.js';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { PublicOrigin } from '../http/public-origin.js';

/** A token with the address to invoke the webhook. Both are secrets. */
interface ShownToken extends WebhookToken {
  readonly url: string;
}

@ApiTags('Webhooks')
@Controller('api/webhooks/:agent_id/token')
export class WebhookTokenController {
  constructor(
    private readonly requester: Requester,
    private readonly origin: PublicOrigin,
  ) {}

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    summary: "Get the token and the URL of an agent's webhook",
    description: 'The first call makes the token.',
    responses: [{ status: 200, description: 'The token.', schema: 'WebhookToken' }],
    errors: ['agent_not_found'],
  })
  @Get()
  async token(@Req() request: ApiRequest, @Param('agent_id') agentId: string): Promise<ShownToken> {
    return this.shown(
      agentId,
      await this.requester.request(webhookRequests.token, { ...envelopeOf(request), agentId }),
    );
  }

  @Route({
    accepts: { key: 'manage' },
    resource: agentOf('agent_id'),
    summary: "Replace the token of an agent's webhook",
    description: 'Once this returns, the token before is refused on every gateway.',
    responses: [{ status: 200, description: 'The new token.', schema: 'WebhookToken' }],
    errors: ['agent_not_found', 'idempotency_answer_gone'],
    answerShows: 'token',
  })
  @Post('rotate')
  async rotate(@Req() request: ApiRequest, @Param('agent_id') agentId: string): Promise<ShownToken> {
    return this.shown(
      agentId,
      await this.requester.request(webhookRequests.rotateToken, { ...envelopeOf(request), agentId }),
    );
  }

  private shown(agentId: string, { token, createdAt }: WebhookToken): ShownToken {
    const url = new URL(`/api/webhooks/${agentId}`, this.origin.url);
    url.searchParams.set('token', token);
    return { token, url: url.href, createdAt };
  }
}
