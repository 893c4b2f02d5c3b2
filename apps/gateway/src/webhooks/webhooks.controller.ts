import {
  listWebhookDeliveriesQuery,
  webhookRequests,
  type AcceptedWebhook,
  type ListWebhookDeliveriesQuery,
  type WebhookDeliveryView,
} from '@berth/contracts/delivery';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { agentOf } from '../agents/agent.resource.js';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { WebhookAuthentication } from '../auth/webhook-authentication.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { deliveryOf } from './delivery.resource.js';
import { messageOf } from './webhook-message.js';

@ApiTags('Webhooks')
@Controller('api/webhooks/:agent_id')
export class WebhooksController {
  constructor(
    private readonly requester: Requester,
    private readonly authentication: WebhookAuthentication,
  ) {}

  @Route({
    accepts: { webhook: true, anonymous: true },
    tokenInQuery: true,
    resource: agentOf('agent_id'),
    body: { kind: 'bytes' },
    summary: "Invoke an agent's webhook",
    description:
      'Returns once the message is stored; it is handed over in the background, which wakes the agent. Any body up to 1 MiB: of a JSON object with a text `message` that text, otherwise the whole text. The token stands in `X-Service-Webhook-Token` or in `?token=`. Calls without one are deprecated, and refused if the operator says so.',
    responses: [{ status: 202, description: 'The message is stored.', schema: 'AcceptedWebhook' }],
    errors: [
      'agent_not_found',
      'account_suspended',
      'end_user_suspended',
      'idempotency_answer_gone',
      'queue_full',
      'rate_limited',
    ],
  })
  @Post()
  async invoke(@Req() request: ApiRequest): Promise<AcceptedWebhook> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    try {
      return await this.requester.request(webhookRequests.invoke, {
        ...envelopeOf(request),
        ...this.authentication.claimOf(request),
        message: messageOf(body),
        contentType: request.declaredType ?? null,
        bytes: body.length,
      });
    } catch (error) {
      this.authentication.noteRefusal(request, error);
      throw error;
    }
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    query: listWebhookDeliveriesQuery,
    summary: "List the deliveries of an agent's webhook",
    description: 'Newest first, for 30 days.',
    responses: [{ status: 200, description: 'One page.', schema: 'WebhookDeliveries' }],
    errors: ['agent_not_found'],
  })
  @Get('deliveries')
  list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() query: ListWebhookDeliveriesQuery,
  ): Promise<Page<WebhookDeliveryView>> {
    const { accountId } = callerOf(request);
    const { status = null, cursor = null, limit } = query;
    return this.requester.request(webhookRequests.list, { accountId, agentId, status, cursor, limit });
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: [agentOf('agent_id'), deliveryOf('delivery_id')],
    summary: 'Deliver the body of a webhook again',
    description: 'As a new delivery, while the body is kept: until 24 h after the delivery has ended.',
    responses: [{ status: 202, description: 'The new delivery.', schema: 'AcceptedWebhook' }],
    errors: [
      'agent_not_found',
      'delivery_not_found',
      'end_user_suspended',
      'body_forgotten',
      'idempotency_answer_gone',
      'queue_full',
      'rate_limited',
    ],
  })
  @Post('deliveries/:delivery_id/redeliver')
  redeliver(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('delivery_id') deliveryId: string,
  ): Promise<AcceptedWebhook> {
    return this.requester.request(webhookRequests.redeliver, {
      ...envelopeOf(request),
      agentId,
      deliveryId,
    });
  }
}
