import { Module, type DynamicModule } from '@nestjs/common';
import { HostedAgents } from './agent/hosted-agents.js';
import { Deliveries } from './delivery/deliveries.js';
import { Driver } from './driver/driver.js';
import { AgentLogs } from './logs/agent-logs.js';
import { HostExecutions } from './execution/host-executions.js';
import { ExecutionsNatsController } from './execution/executions.nats-controller.js';
import { DataPort } from './transfer/data-port.js';
import { Transfers } from './transfer/transfers.js';
import { TransfersNatsController } from './transfer/transfers.nats-controller.js';
import { RuntimeNatsController } from './runtime.nats-controller.js';
import { HOST } from './tokens.js';

/** Connections of the service, opened before the module is created. */
export interface RuntimeParts {
  readonly host: string;
  readonly driver: Driver;
  readonly agents: HostedAgents;
  readonly logs: AgentLogs;
  readonly deliveries: Deliveries;
  readonly executions: HostExecutions;
  readonly transfers: Transfers;
  readonly dataPort: DataPort;
}

@Module({})
export class AppModule {
  static forRoot({
    host,
    driver,
    agents,
    logs,
    deliveries,
    executions,
    transfers,
    dataPort,
  }: RuntimeParts): DynamicModule {
    return {
      module: AppModule,
      controllers: [RuntimeNatsController, ExecutionsNatsController, TransfersNatsController],
      providers: [
        { provide: HOST, useValue: host },
        { provide: Driver, useValue: driver },
        { provide: HostedAgents, useValue: agents },
        { provide: AgentLogs, useValue: logs },
        { provide: Deliveries, useValue: deliveries },
        { provide: HostExecutions, useValue: executions },
        { provide: Transfers, useValue: transfers },
        { provide: DataPort, useValue: dataPort },
      ],
    };
  }
}
