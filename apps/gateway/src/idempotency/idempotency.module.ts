import { SecretBox } from '@berth/persistence';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { GatewayConfig } from '../config.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { IdempotencyHooks } from './idempotency.hooks.js';
import { IdempotentResponses } from './idempotent-responses.js';

@Module({
  imports: [AuthModule],
  providers: [
    {
      provide: SecretBox,
      inject: [GatewayConfig],
      useFactory: ({ keyring }: GatewayConfig) => new SecretBox(keyring),
    },
    IdempotentResponses,
    IdempotencyClaims,
    IdempotencyHooks,
  ],
  exports: [IdempotencyClaims, IdempotencyHooks],
})
export class IdempotencyModule {}
