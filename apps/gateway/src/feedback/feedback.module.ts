import { Module } from '@nestjs/common';
import { FeedbackController, FeedbackOperationsController } from './feedback.controller.js';

@Module({ controllers: [FeedbackController, FeedbackOperationsController] })
export class FeedbackModule {}
