import { Module } from '@nestjs/common';
import { InsideAgentController } from './inside-agent.controller.js';
import { SchedulesController } from './schedules.controller.js';

@Module({ controllers: [SchedulesController, InsideAgentController] })
export class SchedulesModule {}
