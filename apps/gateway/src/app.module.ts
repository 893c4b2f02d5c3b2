import { NatsLink, Requester } from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Authenticators } from './auth/authenticators.js';
import { CredentialWatch } from './auth/credential-watch.js';
import { AgentLifeController } from './agents/agent-life.controller.js';
import { AgentsController } from './agents/agents.controller.js';
import { ChatController } from './chat/chat.controller.js';
import { ConsoleController } from './console/console.controller.js';
import { DocsController } from './docs/docs.controller.js';
import { EnvController } from './env/env.controller.js';
import { ExecController } from './exec/exec.controller.js';
import { OutputController } from './exec/output.controller.js';
import { AgentTransfers } from './files/agent-transfer.js';
import { FilesController } from './files/files.controller.js';
import { StagedFiles } from './files/staged-files.js';
import { UploadController } from './files/upload.controller.js';
import { WriteController } from './files/write.controller.js';
import { HealthController } from './health/health.controller.js';
import { HealthProbe, type HealthFacts } from './health/health.probe.js';
import { Drain } from './http/drain.js';
import type { RouteTable } from './http/route-table.js';
import { IdempotentAnswers } from './idempotency/idempotent-answers.js';
import { KeysController } from './keys/keys.controller.js';
import { FollowedStreams } from './logs/followed-streams.js';
import { LogsController } from './logs/logs.controller.js';
import { SharedReads } from './logs/shared-reads.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { OpenApiDocument } from './openapi/openapi-document.js';
import { DeadLettersController } from './operations/dead-letters.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { TemplatesController } from './templates/templates.controller.js';

/** What the controllers are made with. */
export interface AppDependencies {
  readonly link: NatsLink;
  readonly database: Database;
  readonly requester: Requester;
  readonly routes: RouteTable;
  readonly authenticators: Authenticators;
  readonly answers: IdempotentAnswers;
  readonly drain: Drain;
  readonly facts: HealthFacts;
  readonly log: Logger;
}

@Module({})
export class AppModule {
  static forRoot({
    link,
    database,
    requester,
    authenticators,
    answers,
    drain,
    facts,
    log,
  }: AppDependencies): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        HealthController,
        OpenApiController,
        DocsController,
        TemplatesController,
        KeysController,
        AgentsController,
        AgentLifeController,
        LogsController,
        EnvController,
        ChatController,
        FilesController,
        UploadController,
        WriteController,
        ExecController,
        OutputController,
        ConsoleController,
        OperationsController,
        DeadLettersController,
      ],
      providers: [
        { provide: Requester, useValue: requester },
        { provide: IdempotentAnswers, useValue: answers },
        { provide: Drain, useValue: drain },
        { provide: HealthProbe, useFactory: () => new HealthProbe(link, database, requester, facts, log) },
        { provide: CredentialWatch, useFactory: () => new CredentialWatch(authenticators) },
        { provide: FollowedStreams, useFactory: () => new FollowedStreams() },
        { provide: SharedReads, useFactory: () => new SharedReads() },
        AgentTransfers,
        {
          provide: StagedFiles,
          useFactory: (transfers: AgentTransfers) => new StagedFiles(requester, transfers),
          inject: [AgentTransfers],
        },
        OpenApiDocument,
      ],
    };
  }
}
