import { Module, type DynamicModule } from '@nestjs/common';
import { HostedAgents } from './agent/hosted-agents.js';
import type { Driver } from './driver/driver.js';
import { AgentLogs } from './logs/agent-logs.js';
import { RuntimeNatsController } from './runtime.nats-controller.js';
import { DRIVER, HOST } from './tokens.js';

/** What the service stands on, opened before it. */
export interface RuntimeParts {
  readonly host: string;
  readonly driver: Driver;
  readonly agents: HostedAgents;
  readonly logs: AgentLogs;
}

@Module({})
export class AppModule {
  static forRoot({ host, driver, agents, logs }: RuntimeParts): DynamicModule {
    return {
      module: AppModule,
      controllers: [RuntimeNatsController],
      providers: [
        { provide: HOST, useValue: host },
        { provide: DRIVER, useValue: driver },
        { provide: HostedAgents, useValue: agents },
        { provide: AgentLogs, useValue: logs },
      ],
    };
  }
}
