import {
  webhookRequests,
  type AcceptedWebhook,
  type AuthorizeWebhook,
  type InvokeWebhook,
  type ListWebhookDeliveries,
  type RedeliverWebhook,
  type WebhookCaller,
  type WebhookDeliveryView,
  type WebhookToken,
  type WebhookTokenOf,
} from '@berth/contracts/delivery';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AuthorizeWebhookQuery } from '../webhook-token/authorize-webhook.query.js';
import { WebhookTokenHandler } from '../webhook-token/webhook-token.command-handler.js';
import { WebhookListQuery } from '../webhook-list/webhook-list.query.js';
import { AcceptWebhookHandler } from './accept-webhook.js';
import { RedeliverWebhookHandler } from './redeliver.command-handler.js';

@Controller()
export class WebhookNatsController {
  constructor(
    private readonly authorization: AuthorizeWebhookQuery,
    private readonly deliveries: AcceptWebhookHandler,
    private readonly redeliveries: RedeliverWebhookHandler,
    private readonly deliveryList: WebhookListQuery,
    private readonly tokens: WebhookTokenHandler,
  ) {}

  @HandleRequest(webhookRequests.authorize)
  authorize(request: AuthorizeWebhook): Promise<WebhookCaller> {
    return this.authorization.authorize(request);
  }

  @HandleRequest(webhookRequests.invoke)
  invoke(request: InvokeWebhook): Promise<AcceptedWebhook> {
    return this.deliveries.invoke(request);
  }

  @HandleRequest(webhookRequests.redeliver)
  redeliver(request: RedeliverWebhook): Promise<AcceptedWebhook> {
    return this.redeliveries.handle(request);
  }

  @HandleRequest(webhookRequests.list)
  list(request: ListWebhookDeliveries): Promise<Page<WebhookDeliveryView>> {
    return this.deliveryList.list(request);
  }

  @HandleRequest(webhookRequests.token)
  token(request: WebhookTokenOf): Promise<WebhookToken> {
    return this.tokens.current(request);
  }

  @HandleRequest(webhookRequests.rotateToken)
  rotateToken(request: WebhookTokenOf): Promise<WebhookToken> {
    return this.tokens.rotate(request);
  }
}
