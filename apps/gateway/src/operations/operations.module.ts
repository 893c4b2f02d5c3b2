import { Module } from '@nestjs/common';
import { DeadLettersController } from './dead-letters.controller.js';
import { HostsController } from './hosts.controller.js';
import { OperationsController } from './operations.controller.js';

@Module({ controllers: [OperationsController, DeadLettersController, HostsController] })
export class OperationsModule {}
