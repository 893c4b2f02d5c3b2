import { Module } from '@nestjs/common';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { AgentLifeController } from './agent-life.controller.js';
import { AgentStatsController } from './agent-stats.controller.js';
import { AgentsController } from './agents.controller.js';

@Module({
  imports: [AppProxyModule],
  controllers: [AgentsController, AgentLifeController, AgentStatsController],
})
export class AgentsModule {}
