import { Module } from '@nestjs/common';
import { UsageRecountController } from './usage-recount.controller.js';
import { UsageController } from './usage.controller.js';

@Module({ controllers: [UsageController, UsageRecountController] })
export class UsageModule {}
