import { SecretBox } from '@berth/persistence';
import { Module } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import { IdempotencyHooks } from './idempotency.hooks.js';
import { IdempotentAnswers } from './idempotent-answers.js';

@Module({
  providers: [
    {
      provide: SecretBox,
      inject: [GatewayConfig],
      useFactory: ({ keyring }: GatewayConfig) => new SecretBox(keyring),
    },
    IdempotentAnswers,
    IdempotencyHooks,
  ],
  exports: [IdempotentAnswers, IdempotencyHooks],
})
export class IdempotencyModule {}
