import { Module } from '@nestjs/common';
import { CreditsController } from './credits.controller.js';
import { LlmCallsController } from './llm-calls.controller.js';

@Module({ controllers: [LlmCallsController, CreditsController] })
export class LlmModule {}
