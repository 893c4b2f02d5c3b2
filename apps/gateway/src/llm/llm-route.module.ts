import { Module } from '@nestjs/common';
import { LlmEndpoint } from './llm-endpoint.js';
import { LlmForwarder } from './llm-forwarder.js';
import { LlmRouteHook } from './llm-route.hook.js';

@Module({ providers: [LlmEndpoint, LlmForwarder, LlmRouteHook], exports: [LlmRouteHook] })
export class LlmRouteModule {}
