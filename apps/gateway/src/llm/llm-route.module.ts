import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { LlmEndpoint } from './llm-endpoint.js';
import { LlmForwarder } from './llm-forwarder.js';
import { LlmRouteHook } from './llm-route.hook.js';

@Module({
  imports: [AuthModule],
  providers: [LlmEndpoint, LlmForwarder, LlmRouteHook],
  exports: [LlmRouteHook],
})
export class LlmRouteModule {}
