import { Module } from '@nestjs/common';
import { PublicOrigin } from './public-origin.js';
import { WebhookTokenController } from './webhook-token.controller.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({ controllers: [WebhooksController, WebhookTokenController], providers: [PublicOrigin] })
export class WebhooksModule {}
