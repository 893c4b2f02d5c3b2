import { Module } from '@nestjs/common';
import { AgentLifeController } from './agent-life.controller.js';
import { AgentStatsController } from './agent-stats.controller.js';
import { AgentsController } from './agents.controller.js';

@Module({ controllers: [AgentsController, AgentLifeController, AgentStatsController] })
export class AgentsModule {}
