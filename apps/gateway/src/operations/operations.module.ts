import { Module } from '@nestjs/common';
import { DeadLettersController } from './dead-letters.controller.js';
import { OperationsController } from './operations.controller.js';

@Module({ controllers: [OperationsController, DeadLettersController] })
export class OperationsModule {}
