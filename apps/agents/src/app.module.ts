import { operationsControllers, operationsProviders } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Module, type DynamicModule } from '@nestjs/common';
import { AgentActivity } from './agent-list/agent-activity.js';
import { AgentListQuery } from './agent-list/agent-list.query.js';
import { AgentNatsController } from './agent/agent.nats-controller.js';
import { AgentCreation } from './agent/create-agent.js';
import { AgentDeletion } from './agent/delete-agent.js';
import { EnsureAwakeHandler } from './agent/ensure-awake.js';
import { Transitions } from './agent/transitions.js';
import type { AgentsHandlers, AgentsParts } from './assemble.js';
import { EnvCommandHandler } from './env/env.command-handler.js';
import { EnvNatsController } from './env/env.nats-controller.js';
import { AnnounceHostHandler } from './host/announce-host.js';
import { HostNatsController } from './host/host.nats-controller.js';
import { ObservationHandler } from './host/report-observation.js';
import { TemplateCatalogue } from './templates/template-catalogue.js';

@Module({})
export class AppModule {
  static forRoot(parts: AgentsParts, handlers: AgentsHandlers): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        AgentNatsController,
        EnvNatsController,
        HostNatsController,
        ...operationsControllers('agents'),
      ],
      providers: [
        { provide: Database, useValue: parts.database },
        { provide: TemplateCatalogue, useValue: parts.templates },
        ...operationsProviders(parts.operations),
        { provide: AgentActivity, useValue: handlers.activity },
        { provide: AgentListQuery, useValue: handlers.query },
        { provide: AgentCreation, useValue: handlers.creation },
        { provide: AgentDeletion, useValue: handlers.deletion },
        { provide: Transitions, useValue: handlers.transitions },
        { provide: EnsureAwakeHandler, useValue: handlers.ensureAwake },
        { provide: EnvCommandHandler, useValue: handlers.env },
        { provide: AnnounceHostHandler, useValue: handlers.announceHost },
        { provide: ObservationHandler, useValue: handlers.observations },
      ],
    };
  }
}
