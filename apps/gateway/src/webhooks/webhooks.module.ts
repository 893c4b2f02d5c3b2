import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { PublicOrigin } from '../http/public-origin.js';
import { WebhookTokenController } from './webhook-token.controller.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [AuthModule],
  controllers: [WebhooksController, WebhookTokenController],
  providers: [PublicOrigin],
})
export class WebhooksModule {}
