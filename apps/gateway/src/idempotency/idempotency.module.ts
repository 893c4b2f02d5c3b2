import { SecretBox } from '@berth/persistence';
import { Module } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import { IdempotencyHooks } from './idempotency.hooks.js';
import { IdempotentResponses } from './idempotent-responses.js';

@Module({
  providers: [
    {
      provide: SecretBox,
      inject: [GatewayConfig],
      useFactory: ({ keyring }: GatewayConfig) => new SecretBox(keyring),
    },
    IdempotentResponses,
    IdempotencyHooks,
  ],
  exports: [IdempotentResponses, IdempotencyHooks],
})
export class IdempotencyModule {}
